"""Search in all texts that the person working may see, read by the pages' own queries and held in memory."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import orjson
from sqlalchemy import Connection, func, select

from annotator.actions.authoring import annotating
from annotator.actions.items import materials
from annotator.actions.labelling import label_cases, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.common import RoleNeeded, grouped, storable
from annotator.domain.judges.judge import RaterKind
from annotator.domain.kinds.documents import KINDS, WRITTEN
from annotator.domain.kinds.kind import Kind, Role, State
from annotator.protocols import USUAL
from annotator.storage.tables import AUDIT, ITEM, JUDGEMENT, RESPONSE, SOURCE

ITEMS, PEOPLE, DOCUMENTS, REPORTS, NOTES, SOURCES = KINDS_OF_TEXT = (
    "Items", "People", "Documents", "Reports", "Notes", "Sources",
)  # fmt: skip
# The kinds of which the title is searched, too.
TITLED = (ITEMS, PEOPLE)
# The fields of a unit that are searched.
PROSE = ("title", "text", "passage", "authors", "identifier")
# The number of hits shown of a kind; the characters shown before the first matched word, and from there on.
MOST, BEFORE, AFTER = 6, 32, 160
# Texts are joined into blocks of this many characters: a block without one of the words is skipped whole.
STRETCH = 1 << 16
# Stands before every text, and occurs in none.
_BEGIN = b"\0"


class SearchText(NamedTuple):
    title: str
    text: str
    page: str
    place: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A text that contains all words, with the text around the first; `marks` are the words in it, as (start, end)."""

    kind: str
    title: str
    words: str
    marks: tuple[tuple[int, int], ...]
    page: str
    place: Mapping[str, str]


class _Stretch(NamedTuple):
    """A block of folded texts in UTF-8, which is searched a third faster than str, and where each begins."""

    folded: bytes
    starts: Sequence[int]
    texts: Sequence[SearchText]

    def having(self, words: Sequence[bytes]) -> Iterator[SearchText]:
        """The texts with all of the words, searched by the word whose first match comes last."""
        firsts = [self.folded.find(word) for word in words]
        at = max(firsts) if min(firsts) >= 0 else -1
        rarest = words[firsts.index(at)] if at >= 0 else b""
        while at >= 0:
            place = bisect_right(self.starts, at) - 1
            begin, end = self.starts[place], self.starts[place + 1]
            if all(self.folded.find(word, begin, end) >= 0 for word in words):
                yield self.texts[place]
            at = self.folded.find(rarest, end)


class SearchIndex:
    """All texts that a person may see, as of one `moment`."""

    def __init__(self, moment: object, texts: Iterable[tuple[str, SearchText]]) -> None:
        self.moment = moment
        by_kind = grouped(texts)
        self._stretches = {
            kind: list(_joined(by_kind.get(kind, []), kind in TITLED)) for kind in KINDS_OF_TEXT
        }

    def hits(self, typed: str) -> Iterator[SearchHit]:
        """Hits by kind, an item or a person with exactly this key first; one more than `MOST` if there are more."""
        words = fold(storable(typed)).split()
        for kind, stretches in self._stretches.items() if words else ():
            every = [word.encode() for word in words]
            exact = [b"%b%b\n" % (_BEGIN, b" ".join(every))]
            ways = [exact, every] if kind in TITLED else [every]
            matches = {id(one): one for way in ways for one in islice(_met(stretches, way), MOST + 1)}
            for text in islice(matches.values(), MOST + 1):
                shown, marks = _around(text.text, words)
                yield SearchHit(kind, text.title, shown, marks, text.page, text.place)


def _met(stretches: Iterable[_Stretch], words: Sequence[bytes]) -> Iterator[SearchText]:
    return (text for stretch in stretches for text in stretch.having(words))


def _joined(texts: Iterable[SearchText], titled: bool) -> Iterator[_Stretch]:
    pieces, starts, listed, end = list[bytes](), [0], list[SearchText](), 0
    for text in texts:
        pieces.append(_BEGIN + fold(f"{text.title}\n{text.text}" if titled else text.text).encode())
        listed.append(text)
        end += len(pieces[-1])
        starts.append(end)
        if end >= STRETCH:
            yield _Stretch(b"".join(pieces), starts, listed)
            pieces, starts, listed, end = [], [0], [], 0
    if listed:
        yield _Stretch(b"".join(pieces), starts, listed)


def fold(text: str) -> str:
    """Fold case, keeping the length: a position in the folded text is the same in the text."""
    return text.replace("İ", "i").lower().replace("ς", "σ")


def marks(text: str, words: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """The spans of the folded words in a text."""
    folded, result = fold(text), set[tuple[int, int]]()
    for word in words:
        at = folded.find(word)
        while at >= 0:
            result.add((at, at + len(word)))
            at = folded.find(word, at + len(word))
    return tuple(sorted(result))


def _around(text: str, words: Sequence[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    folded = fold(text)
    at = min((place for word in words if (place := folded.find(word)) >= 0), default=0)
    begin = max(0, at - BEFORE)
    begin = text.find(" ", begin, at) + 1 or begin if begin else 0
    shown = "… " * bool(begin) + " ".join(text[begin : at + AFTER].split())
    return shown, marks(shown, words)


def moment(project: Project) -> object:
    """A key that stays the same while the same person works and nothing is changed: an index with it is up to date."""
    return people.someone(project).id, project.query(select(func.max(AUDIT.c.seq))).scalar()


def gather(project: Project) -> SearchIndex:
    with project.store.read() as db:
        return SearchIndex(moment(project), _texts(project, db))


def _texts(project: Project, db: Connection) -> Iterator[tuple[str, SearchText]]:
    me = people.someone(project)
    used = select(ITEM.c.id, ITEM.c.key, ITEM.c.question, ITEM.c.subject).where(ITEM.c.retired.is_(False))
    keys = {}
    for item_id, key, question, subject in db.execute(used.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)):
        keys[item_id] = key
        yield ITEMS, SearchText(key, f"{question}\n{subject}", "Author", {"item_id": item_id})
    if me.has(Role.COORDINATOR) and not project.from_task:
        for person in people.people(project):
            name = person.name if person.name != person.alias else ""
            yield PEOPLE, SearchText(person.alias, name, "People", {"part": "Team"})
    yield from _documents(db, me.id, keys)
    yield from _reports(project, db, keys)
    places = select(SOURCE.c.item_id, SOURCE.c.title, SOURCE.c.text).order_by(SOURCE.c.position, SOURCE.c.id)
    for item_id, title, text in db.execute(places):
        if item_id in keys:
            yield SOURCES, SearchText(f"{keys[item_id]} · {title}", text, "Author", {"item_id": item_id})


def _documents(db: Connection, me: str, keys: Mapping[str, str]) -> Iterator[tuple[str, SearchText]]:
    """The units that the person sees on Author, and their own notes."""
    order = {item_id: place for place, item_id in enumerate(keys)}
    rows = [row for row in db.execute(annotating.VISIBLE, {"reader": me}) if row.item_id in keys]
    for row in sorted(rows, key=lambda row: (order[row.item_id], row.author_id != me)):
        kind, own = Kind(row.kind), row.author_id == me
        if kind not in WRITTEN:
            continue
        spec, content = KINDS[kind], orjson.loads(row.content)
        whose = "" if own else ", consensus" if row.state == State.CONSENSUS.value else ", imported"
        place = {"item_id": row.item_id, "kind": kind.value}
        if own and content["remark"]:
            yield NOTES, SearchText(f"{keys[row.item_id]} · {spec.title}", content["remark"], "Author", place)
        for number, unit in enumerate(content["units"], start=1):
            title, at = f"{keys[row.item_id]} · {spec.unit} {number}{whose}", place | {"unit_id": unit["id"]}
            yield DOCUMENTS, SearchText(title, "\n".join(filter(None, map(unit.get, PROSE))), "Author", at)
            if own and unit.get("note"):
                yield NOTES, SearchText(title, unit["note"], "Author", at)


def _reports(project: Project, db: Connection, keys: Mapping[str, str]) -> Iterator[tuple[str, SearchText]]:
    """Reports under their blind names if the person labels them, the others for those who see them in Material; and the
    notes that the person gave with their labels.
    """
    me, tasks = people.someone(project).id, dict[str, tuple[str, labels.LabelTask]]()
    protocols = label_cases.protocols_by_item(db, me).values()
    for protocol in dict.fromkeys([USUAL, *(name for of_item in protocols for name in of_item)]):
        for task in labels.queue(project, protocol):
            for response_id in (task.response_id, *([task.other_id] if task.other_id else [])):
                tasks.setdefault(response_id, (protocol, task))
    every = _sees_material(project)
    for response_id, item_id, text in db.execute(select(RESPONSE.c.id, RESPONSE.c.item_id, RESPONSE.c.text)):
        at = {"item_id": item_id, "response_id": response_id}
        if item_id in keys and response_id in tasks:
            protocol, task = tasks[response_id]
            at |= {"response_id": task.response_id, "other_id": task.other_id, "protocol": protocol}
            yield REPORTS, SearchText(f"{keys[item_id]} · {task.name}", text, "Label", at)
        elif item_id in keys and every:
            yield REPORTS, SearchText(f"{keys[item_id]} · report", text, "Material", at)
    own = (
        JUDGEMENT.c.rater_kind == RaterKind.PERSON.value,
        JUDGEMENT.c.rater_id == me,
        JUDGEMENT.c.trial == 1,
    )
    names = ("item_id", "response_id", "unit_id", "protocol", "note")
    for row in db.execute(select(*(JUDGEMENT.c[name] for name in names)).where(*own, JUDGEMENT.c.note != "")):
        if row.item_id in keys:
            at = dict(zip(names[:-1], row, strict=False))
            yield NOTES, SearchText(f"{keys[row.item_id]} · label", row.note, "Label", at)


def _sees_material(project: Project) -> bool:
    try:
        people.refuse_others(project, materials.DOES)
    except RoleNeeded:
        return False
    return not project.from_task
