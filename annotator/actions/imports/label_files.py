"""Import of labels from files: previewed first, then all of them at once or none."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, select

from annotator.actions.imports import label_matching
from annotator.actions.imports.label_matching import (
    DEFAULT_OPTIONS,
    LabelImportOptions,
    MatchedLabel,
    Matcher,
    NamedRater,
    Raters,
)
from annotator.actions.labelling import labels as labels_module
from annotator.actions.labelling.label_rows import (
    ANSWERED,
    UNSURE,
    is_given,
    is_waiting,
    pending,
    sealed_by,
    submits,
)
from annotator.actions.labelling.labels import FLAGGED, SEVERAL, Fields
from annotator.actions.project import backups, people
from annotator.actions.project.file import (
    BATCH,
    Progress,
    Project,
    insert_rows,
    judgement_hash,
    record,
    silent,
)
from annotator.actions.project.incoming import (
    CORRECT,
    refuse_bad,
)
from annotator.domain.common import Change, Refusal, counted, grouped, new_id, now
from annotator.domain.judges.judge import Judgement, RaterKind
from annotator.domain.texts.difference import Span, find
from annotator.exchange.formats import label_files
from annotator.exchange.formats.layout import EntryTrouble, LabelFileContent
from annotator.exchange.release.bundle import Problem
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import JUDGEMENT, RESPONSE

__all__ = [
    "EntryTrouble",
    "LabelImportOptions",
    "LabelImportPreview",
    "NamedRater",
    "preview",
    "run",
]
Spans = Mapping[tuple[str, str], Span | None]

# Protocol, response, unit, person.
Key = tuple[str, str, str, str]
Label = tuple[MatchedLabel, NamedRater]


class Outcome(Enum):
    """The outcome of importing a label: new, the same, adding to the stored one, replacing it, or refused."""

    NEW, SAME, FILLED, REPLACED, REFUSED = range(5)


Settled = tuple[Outcome, Problem | None]


@dataclass(slots=True)
class LabelIntake:
    """The comparison of labels in files with the project's in this transaction, sorted by their plan.

    A label may add to the stored one (a value, a quote or a note that is empty here) or differ from it. `drafts` counts
    labels that are equal here, but not yet submitted.
    """

    db: Connection
    raters: Raters
    may_replace: bool
    problems: list[Problem]
    notes: list[str]
    labels: dict[Outcome, list[Label]] = field(default_factory=lambda: defaultdict(list))
    drafts: int = 0

    def compare(self, matched: Iterable[MatchedLabel]) -> "LabelIntake":
        """Sort the labels into new, adding, replacing, the same and refused."""
        labels = _unique(_by_rater(matched, self), self)
        stored = _stored(self.db, {key[0] for key in labels}, {key[3] for key in labels})
        sealed = cache(lambda protocol, person: sealed_by(self.db, person, protocol))
        for key, label in labels.items():
            protocol, *_, person = key
            locked = label[0].item_id in sealed(protocol, person)
            outcome, problem = self._settle(*label, stored.get(key), locked=locked)
            self.labels[outcome].append(label)
            self.problems += [problem] if problem is not None else []
        if self.drafts:
            verb = "is a draft and counts" if self.drafts == 1 else "are drafts and count"
            self.notes.append(
                f"{counted(self.drafts, 'label')} that {'is' if self.drafts == 1 else 'are'} there alike {verb} once "
                "submitted, or once let take the place of the drafts"
            )
        return self

    def _settle(
        self, label: MatchedLabel, rater: NamedRater, row: Row[Any] | None, *, locked: bool
    ) -> Settled:
        """The outcome of one label; `row` is the stored one, `locked` if the rater has submitted the item."""
        alias, entry = rater.person.alias, label.entry
        other = _difference(label, row, alias) if row is not None else ""
        labelled = row is not None and row.status in ANSWERED
        added = any(getattr(entry, name) and not getattr(row, name, "") for name in ("quote", "note"))
        if row is not None and labelled and not other and (locked or not added):
            return self._settle_alike(label, alias, row, locked=locked)
        if locked:
            reason = f"{alias} has submitted the labels of this item" + (f"; {other}" if other else "")
            return Outcome.REFUSED, entry.problem(EntryTrouble.SUBMITTED, reason)
        if other:
            outcome = Outcome.REPLACED if self.may_replace else Outcome.REFUSED
            return outcome, entry.problem(EntryTrouble.CONFLICT, other, note=self.may_replace)
        return (Outcome.NEW if row is None else Outcome.FILLED), None

    def _settle_alike(self, label: MatchedLabel, alias: str, row: Row[Any], *, locked: bool) -> Settled:
        """The outcome of a label that is equal here: the same, or different in that one side is a draft."""
        finished = is_given(row.flags)
        counts = not submits(label.place.protocol) and not is_waiting(row.flags)
        if locked or counts or finished == is_given(label.flags):
            return Outcome.SAME, None
        if self.may_replace:
            words = "a draft again" if finished else "no draft any more"
            reason = f"{alias} said the same; it is {words}"
            return Outcome.REPLACED, label.entry.problem(EntryTrouble.CONFLICT, reason, note=True)
        self.drafts += not finished
        return Outcome.SAME, None


def _by_rater(labels: Iterable[MatchedLabel], intake: LabelIntake) -> Iterator[Label]:
    strangers: dict[str, list[MatchedLabel]] = defaultdict(list)
    for label in labels:
        rater = intake.raters.of(label.entry)
        if isinstance(rater, str):
            strangers[rater].append(label)
        else:
            yield label, rater
    # Each unknown name is reported once, however many labels it has.
    for reason, theirs in strangers.items():
        intake.problems.append(theirs[0].entry.problem(EntryTrouble.UNKNOWN_RATER, reason, len(theirs)))


def _unique(labels: Iterable[Label], intake: LabelIntake) -> dict[Key, Label]:
    """Each label once; if the files contradict each other none of them is taken, as it is unknown which holds."""
    once: dict[Key, Label] = {}
    again = 0
    for key, ones in grouped((_key(label), label) for label in labels).items():
        if len({(label.value, label.entry.quote, label.entry.note) for label, _ in ones}) == 1:
            once[key] = ones[0]
            again += len(ones) - 1
            continue
        reason = f"the files give this label of {ones[0][1].person.alias} more than once, and not alike"
        intake.problems += [label.entry.problem(EntryTrouble.REPEATED, reason) for label, _ in ones]
    if again:
        intake.notes.append(f"Found more than once in the files, and alike: {counted(again, 'label')}")
    return once


def _key(label: Label) -> Key:
    matched_label, rater = label
    return (
        matched_label.place.protocol,
        matched_label.place.response_id,
        matched_label.place.unit_id,
        rater.person.id,
    )


def _stored(db: Connection, protocols: set[str], persons: set[str]) -> dict[Key, Any]:
    j = JUDGEMENT.c
    columns = (j.protocol, j.response_id, j.unit_id, j.rater_id, j.value, j.status, j.quote, j.note, j.flags)
    of_people = select(*columns).where(
        j.rater_kind == RaterKind.PERSON.value, j.trial == 1, j.protocol.in_(protocols)
    )
    return {
        (row.protocol, row.response_id, row.unit_id, row.rater_id): row
        for person in sorted(persons)
        for row in db.execute(of_people.where(j.rater_id == person))
    }


def _difference(label: MatchedLabel, row: Row[Any], alias: str) -> str:
    """How a person's stored label differs from the file's; a field empty on either side is no difference."""
    before = row.value or UNSURE
    if row.status in ANSWERED and before != label.value:
        return f"{alias} said “{before}” here, the file says “{label.value}”"
    for name in ("quote", "note"):
        given, stored = getattr(label.entry, name), getattr(row, name)
        if given and stored and given != stored:
            return f"the {name} that {alias} left here is another"
    return ""


@dataclass(frozen=True, slots=True)
class LabelImportPreview:
    """The preview or result of an import: new, same and replaced labels.

    `drafts` if the imported labels do not count before they are submitted.

    `filled` ones add a value, a quote or a note to labels without one. `problems` are entries that cannot be imported;
    `replaced` those that replace a person's earlier label. `raters` maps names to people, and `strangers` are the names
    nobody has mapped.
    """

    new: int
    filled: int
    same: int
    replaced: tuple[Problem, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    raters: tuple[NamedRater, ...]
    strangers: tuple[str, ...] = ()
    drafts: bool = False

    @property
    def changes(self) -> int:
        return self.new + self.filled + len(self.replaced)

    @property
    def counts(self) -> dict[str, int]:
        result: Counter[str] = Counter()
        for problem in self.problems:
            result[problem.trouble] += problem.labels
        return dict(result.most_common())

    def words(self) -> list[str]:
        state = "as drafts" if self.drafts else "finished work that counts at once"
        lines = [
            f"New: {counted(self.new, 'label')}{f', {state}' if self.new else ''}",
            *([f"Completed:  {counted(self.filled, 'label')}"] if self.filled else []),
            *([f"Already there: {counted(self.same, 'label')}"] if self.same else []),
            *([f"Replaced:  {counted(len(self.replaced), 'label')}"] if self.replaced else []),
            *(f"  {finding}" for finding in self.replaced),
            *self.raters_in_words(),
            *(f"Note: {note}" for note in self.notes),
        ]
        named = ", ".join(f"{count:,} {trouble}" for trouble, count in self.counts.items())
        return lines + ([f"Invalid: {named}"] if named else [])

    def raters_in_words(self) -> list[str]:
        return [
            f"“{rater.name}” is {'a new person, ' if rater.new else ''}{rater.person.alias}"
            + ("" if rater.name == rater.person.name else f", {rater.person.name}")
            for rater in self.raters
        ]


@people.for_coordinators("can import other people's labels")
def preview(
    project: Project, paths: Sequence[Path], options: LabelImportOptions = DEFAULT_OPTIONS
) -> LabelImportPreview:
    """The effect of importing these files; writes nothing. Raises Refusal if they contain no labels at all."""
    placed = _placed(project, read(paths, options), options)
    with project.store.read() as db:
        return _preview(_compare(project, db, placed, options), options)


@people.for_coordinators("can import other people's labels")
def run(
    project: Project,
    paths: Sequence[Path],
    options: LabelImportOptions = DEFAULT_OPTIONS,
    progress: Progress | None = None,
) -> tuple[Change, LabelImportPreview]:
    """Import the labels in one transaction. Unless `skip_bad`, one bad entry stops the import.

    An existing label is skipped; one that differs from the person's own is refused, or with `replace` replaces it, the
    former one staying in the audit. Submitted labels never change.
    """
    tell = progress or silent
    tell("reading files", 0, len(paths))
    placed = _placed(project, read(paths, options), options)
    with project.store.read() as db:
        report = _preview(_compare(project, db, placed, options), options)
    _refuse_bad(report, options)
    if not report.changes:
        return Change("import", "labels", "nothing new", after=_summary(report, paths)), report
    backups.make(project, "before an import of labels")
    with project.store.write() as db:
        # Someone may have written since the first comparison.
        report, source = _take(project, db, placed, options, tell)
        _refuse_bad(report, options)
        change = Change("import", new_id(), "import labels", after=_summary(report, paths) | source)
        return record(project, db, change), report


@people.for_coordinators("can import other people's labels")
def take(
    project: Project, db: Connection, content: LabelFileContent, options: LabelImportOptions, tell: Progress
) -> LabelImportPreview:
    """Import labels within the transaction that brings their items and reports; problems are listed."""
    report, source = _take(project, db, _placed(project, content, options), options, tell)
    if report.changes:
        files = sorted({entry.file for entry in content.entries})
        change = Change(
            "import", new_id(), "import labels", after=_summary(report, map(Path, files)) | source
        )
        record(project, db, change)
    return report


def _take(
    project: Project, db: Connection, placed: "_Placed", options: LabelImportOptions, tell: Progress
) -> tuple[LabelImportPreview, Fields]:
    compared = _compare(project, db, placed, options)
    label_matching.add(project, db, compared.raters.new())
    source = _write(project, db, compared, placed.spans, tell)
    return _preview(compared, options), source


def read(paths: Sequence[Path], options: LabelImportOptions) -> LabelFileContent:
    """The content of the files; raises Refusal if there is no label at all."""
    for path in paths:
        if not path.exists():
            raise Refusal(
                f"There is no “{path.name}” in {path.absolute().parent}.", "Check the name or choose another."
            )
    content = label_files.read(paths, options.mapping)
    if not content.entries and not content.problems:
        raise Refusal("The files hold no labels.", "Choose other files.")
    return content


@dataclass(frozen=True, slots=True)
class _Placed:
    matched: tuple[MatchedLabel, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    spans: Spans


def _placed(project: Project, content: LabelFileContent, options: LabelImportOptions) -> _Placed:
    placed = list(Matcher(project, options).place(content.entries))
    labels = tuple(one for one in placed if isinstance(one, MatchedLabel))
    problems = (*content.problems, *(one for one in placed if isinstance(one, Problem)))
    spans = _spans(project, labels)
    other = {
        entry.file: f"{entry.file} speaks of “{entry.system[:80]}”, "
        f"and is taken for “{options.system_of(entry)}” as told"
        for entry in content.entries
        if entry.peer and entry.system and entry.system != options.system_of(entry)
    }
    lost = sum(span is None for span in spans.values())
    words = f"{counted(lost, 'quote')} cannot be found in the reports; they are kept as they are"
    notes = (*content.notes, *([words] if lost else []), *other.values())
    return _Placed(labels, problems, notes, spans)


def _spans(project: Project, labels: Iterable[MatchedLabel]) -> Spans:
    """The position of each quote in its report; quotes of protocols about pages are not searched for."""
    quotes = grouped(
        (label.place.response_id, label.entry.quote)
        for label in labels
        if label.entry.quote and not PROTOCOLS[label.place.protocol].parts
    )
    result: dict[tuple[str, str], Span | None] = {}
    for response_id, listed in quotes.items():
        text = project.query(select(RESPONSE.c.text).where(RESPONSE.c.id == response_id)).scalar_one()
        result |= {(response_id, quote): find(text, quote) for quote in set(listed)}
    return result


def _compare(project: Project, db: Connection, placed: _Placed, options: LabelImportOptions) -> LabelIntake:
    raters = Raters(project, options.raters, add_unknown=options.new_raters)
    intake = LabelIntake(db, raters, options.replace, list(placed.problems), list(placed.notes))
    return intake.compare(placed.matched)


def _preview(intake: LabelIntake, options: LabelImportOptions) -> LabelImportPreview:
    raters = intake.raters
    met = tuple(rater for rater in raters.met.values() if isinstance(rater, NamedRater))
    unmet = [f"no rater in the files is called “{name}”" for name in raters.unmet()]
    new, filled, same = (
        len(intake.labels[outcome]) for outcome in (Outcome.NEW, Outcome.FILLED, Outcome.SAME)
    )
    replaced, refused = (
        tuple(problem for problem in intake.problems if problem.note is note) for note in (True, False)
    )
    return LabelImportPreview(
        new, filled, same, replaced, refused, (*intake.notes, *unmet), met,
        tuple(sorted(raters.strangers())), options.drafts,
    )  # fmt: skip


def _refuse_bad(report: LabelImportPreview, options: LabelImportOptions) -> None:
    only_conflicts = {problem.trouble for problem in report.problems} == {EntryTrouble.CONFLICT}
    replacing = "Skip these, or let the file's labels replace the others."
    refuse_bad(report.problems, options.skip_bad, replacing if only_conflicts else CORRECT)


def _summary(report: LabelImportPreview, paths: Iterable[Path]) -> dict[str, Any]:
    whose = {rater.name: rater.person.alias for rater in report.raters}
    named = {"files": sorted(path.name for path in paths), "raters": whose}
    counts = {"new": report.new, "filled": report.filled, "replaced": len(report.replaced)}
    return {"format": "labels", **named, **counts}


def _write(project: Project, db: Connection, intake: LabelIntake, spans: Spans, tell: Progress) -> Fields:
    """Write the labels; return what the audit needs for `label_origins` to name the file of each label."""
    at, new = now(), intake.labels[Outcome.NEW]
    others = intake.labels[Outcome.FILLED] + intake.labels[Outcome.REPLACED]
    files = sorted({label.entry.file for label, _ in new + others})
    moments = labels_module.moments(at, files)
    for start in range(0, len(new), BATCH):
        rows = [
            _row(matched_label, rater, spans) | {"at": moments[matched_label.entry.file]}
            for matched_label, rater in new[start : start + BATCH]
        ]
        insert_rows(db, JUDGEMENT, [row | {"sha256": judgement_hash(row)} for row in rows], silent)
        tell("writing labels", min(start + BATCH, len(new)), len(new))
    before: dict[str, Fields] = {}
    after: dict[str, Fields] = {}
    for label, rater in others:
        old, _ = labels_module.stored(db, label.place, rater.person.id, by_file=True)
        if old is None:
            raise LookupError(f"the label {label.place} of {rater.person.id} is gone within one transaction")
        row = Judgement(**old | _put(label, old, spans) | {"at": moments[label.entry.file]}).model_dump()
        row = _pending_if_draft(label, old, row)
        labels_module.write(db, row, new=False)
        before[row["id"]], after[row["id"]] = labels_module.image(old), labels_module.image(row)
    if before:
        change = Change(
            "judgement", next(iter(before)), "replace labels", {SEVERAL: before}, {SEVERAL: after}
        )
        record(project, db, change)
    return {"at": at.isoformat(), "sources": files}


def _row(label: MatchedLabel, rater: NamedRater, spans: Spans) -> Fields:
    values: Fields = {
        "id": new_id(), "protocol": label.place.protocol, "item_id": label.item_id,
        "response_id": label.place.response_id, "artifact_id": label.artifact_id, "unit_id": label.place.unit_id,
        "rater_id": rater.person.id, "note": label.entry.note,
    }  # fmt: skip
    values |= label.fields()
    if label.entry.quote or label.entry.note:
        row = Judgement(**_plain_row() | values | _quoted(label, spans)).model_dump()
    else:
        # It contains no words of the file and need not be validated.
        row = _plain_row() | values
    return _pending_if_draft(label, None, row)


@cache
def _plain_row() -> Fields:
    ids: Fields = dict.fromkeys(("id", "protocol", "item_id", "response_id", "unit_id", "rater_id"), "-")
    return Judgement(**ids | {"rater_kind": RaterKind.PERSON.value, "at": now()}).model_dump()


def _pending_if_draft(label: MatchedLabel, before: Fields | None, row: Fields) -> Fields:
    """A draft waits for its submission; finished labels count at once."""
    return row if is_given(label.flags) else pending(before, row) or row


def _quoted(label: MatchedLabel, spans: Spans) -> Fields:
    start, end = spans.get((label.place.response_id, label.entry.quote)) or (None, None)
    return {"quote": label.entry.quote, "quote_start": start, "quote_end": end}


def _put(label: MatchedLabel, old: Fields, spans: Spans) -> Fields:
    """The changed fields of a row: all for another value, otherwise only what the file adds."""
    fields = label.fields()
    whole = old["status"] in ANSWERED and (old["value"] or UNSURE) != label.value
    quoted = _quoted(label, spans) if whole or label.entry.quote else {}
    noted = {"note": label.entry.note} if whole or label.entry.note else {}
    own = [FLAGGED] if FLAGGED in old["flags"].split() else []
    return fields | quoted | noted | {"flags": " ".join([*str(fields["flags"]).split(), *own])}
