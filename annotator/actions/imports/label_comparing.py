"""Imported labels compared with the project's: new, same, more, in conflict, or too late."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Row, select
from sqlalchemy.engine import Connection

from annotator.actions.imports.label_matching import MatchedLabel
from annotator.actions.imports.label_raters import NamedRater, Raters
from annotator.actions.labelling.label_rows import (
    JUDGEMENT,
    SAID,
    UNSURE,
    is_given,
    is_waiting,
    sealed_by,
    submits,
)
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.texts.counting import counted
from annotator.exchange.formats.label_entries import EntryFinding, EntryTrouble

# Protocol, response, unit, person.
Key = tuple[str, str, str, str]
Label = tuple[MatchedLabel, NamedRater]


@dataclass(slots=True)
class Compared:
    """Labels of files compared with the project's.

    `filled` say more than is here (a value, a quote or a note where there was none), `replacing` something else;
    `replaced` tells of each of those what was said before. `drafts` are there alike, and yet to be submitted.
    """

    raters: Raters
    findings: list[EntryFinding]
    notes: list[str]
    new: list[Label] = field(default_factory=list)
    filled: list[Label] = field(default_factory=list)
    replacing: list[Label] = field(default_factory=list)
    replaced: list[EntryFinding] = field(default_factory=list)
    same: int = 0
    drafts: int = 0


class _Here(NamedTuple):
    """The project's row for a label, if any, and whether it can still change."""

    row: Row[Any] | None
    locked: bool

    @property
    def said(self) -> bool:
        """Whether the person has spoken on it."""
        return self.row is not None and self.row.status in SAID


def compare(db: Connection, said: Iterable[MatchedLabel], found: Compared, *, may_replace: bool) -> Compared:
    """Sort the labels into `found`, in this transaction."""
    labels = _told_apart(_by_rater(said, found), found)
    there = _there(db, {key[0] for key in labels}, {key[3] for key in labels})
    sealed = cache(lambda protocol, person: sealed_by(db, person, protocol))
    for key, label in labels.items():
        locked = label[0].item_id in sealed(key[0], key[3])
        _sort(found, label, _Here(there.get(key), locked), may_replace=may_replace)
    if found.drafts:
        verb = "is a draft and counts" if found.drafts == 1 else "are drafts and count"
        found.notes.append(
            f"{counted(found.drafts, 'label')} that {'is' if found.drafts == 1 else 'are'} there alike {verb} once "
            "submitted, or once let take the place of the drafts"
        )
    return found


def _by_rater(said: Iterable[MatchedLabel], found: Compared) -> Iterator[Label]:
    strangers: dict[str, list[MatchedLabel]] = defaultdict(list)
    for one in said:
        rater = found.raters.of(one.entry)
        if isinstance(rater, str):
            strangers[rater].append(one)
        else:
            yield one, rater
    # Who someone is, is asked once, however many labels are theirs.
    for reason, theirs in strangers.items():
        found.findings.append(theirs[0].entry.finding(EntryTrouble.UNKNOWN_RATER, reason, len(theirs)))


def _told_apart(labels: Iterable[Label], found: Compared) -> dict[Key, Label]:
    """Each label once. Where the files contradict themselves none is taken, for nobody knows which holds."""
    met: dict[Key, list[Label]] = {}
    for said, rater in labels:
        met.setdefault((*_place(said), rater.person.id), []).append((said, rater))
    alike = {key: ones for key, ones in met.items() if len({_words(said) for said, _ in ones}) == 1}
    again = sum(len(ones) - 1 for ones in alike.values())
    if again:
        found.notes.append(f"Found more than once in the files, and alike: {counted(again, 'label')}")
    for key in (key for key in met if key not in alike):
        reason = f"the files give this label of {met[key][0][1].person.alias} more than once, and not alike"
        found.findings += [said.entry.finding(EntryTrouble.REPEATED, reason) for said, _ in met[key]]
    return {key: ones[0] for key, ones in alike.items()}


def _place(said: MatchedLabel) -> tuple[str, str, str]:
    return said.place.protocol, said.place.response_id, said.place.unit_id


def _words(said: MatchedLabel) -> tuple[str, str, str]:
    return said.value, said.entry.quote, said.entry.note


def _there(db: Connection, protocols: set[str], persons: set[str]) -> dict[Key, Row[Any]]:
    """What these people have said already, by where."""
    j = JUDGEMENT.c
    columns = (j.protocol, j.response_id, j.unit_id, j.rater_id, j.value, j.status, j.quote, j.note, j.flags)
    found: dict[Key, Any] = {}
    for person in sorted(persons):
        whose = (j.rater_kind == RaterKind.PERSON.value) & (j.rater_id == person) & (j.trial == 1)
        for row in db.execute(select(*columns).where(whose, j.protocol.in_(protocols))):
            found[row.protocol, row.response_id, row.unit_id, row.rater_id] = row
    return found


def _sort(found: Compared, label: Label, here: _Here, *, may_replace: bool) -> None:
    """One label: new, the same, more than is here, in the place of another, or refused."""
    (said, rater), row = label, here.row
    alias = rater.person.alias
    other = _difference(said, row, alias) if row is not None else ""
    more = row is not None and (not here.said or any(_adds(said, row, name) for name in ("quote", "note")))
    if here.said and not other and (here.locked or not more):
        _sort_alike(found, label, here, may_replace=may_replace)
    elif here.locked:
        reason = f"{alias} has submitted the labels of this item" + (f"; {other}" if other else "")
        found.findings.append(said.entry.finding(EntryTrouble.SUBMITTED, reason))
    elif other and may_replace:
        found.replacing.append(label)
        found.replaced.append(said.entry.finding(EntryTrouble.CONFLICT, other))
    elif other:
        found.findings.append(said.entry.finding(EntryTrouble.CONFLICT, other))
    else:
        (found.filled if more else found.new).append(label)


def _counts(said: MatchedLabel, row: Row[Any] | None) -> bool:
    """Whether a label that is there counts without being submitted item by item."""
    return row is not None and not submits(said.place.protocol) and not is_waiting(row.flags)


def _sort_alike(found: Compared, label: Label, here: _Here, *, may_replace: bool) -> None:
    """A label that is there alike: as finished as in the file, or a draft on one of the two sides."""
    (said, rater), row = label, here.row
    finished = row is not None and is_given(row.flags)
    if here.locked or finished == is_given(said.flags) or _counts(said, row):
        found.same += 1
    elif may_replace:
        words = "a draft again" if finished else "no draft any more"
        found.replacing.append(label)
        found.replaced.append(
            said.entry.finding(EntryTrouble.CONFLICT, f"{rater.person.alias} said the same; it is {words}")
        )
    else:
        found.same += 1
        found.drafts += not finished


def _difference(said: MatchedLabel, row: Row[Any], alias: str) -> str:
    """What a person has said here otherwise than the file; what either leaves open is no difference."""
    before = row.value or UNSURE
    if row.status in SAID and before != said.value:
        return f"{alias} said “{before}” here, the file says “{said.value}”"
    for name in ("quote", "note"):
        told, kept = getattr(said.entry, name), getattr(row, name)
        if told and kept and told != kept:
            return f"the {name} that {alias} left here is another"
    return ""


def _adds(said: MatchedLabel, row: Row[Any], name: str) -> bool:
    return bool(getattr(said.entry, name)) and not getattr(row, name)
