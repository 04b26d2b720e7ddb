"""The final pass over items: a checklist for each, with hints from the program and signatures."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median

import orjson
from sqlalchemy import Connection, select

from annotator.actions.agreement import agreement_figures, agreement_report
from annotator.actions.authoring import annotating, settings
from annotator.actions.items import materials
from annotator.actions.labelling import board
from annotator.actions.project import people
from annotator.actions.project.file import Project, change_setting
from annotator.domain.common import Change, Refusal, RoleNeeded, counted, grouped, now, required, well_formed
from annotator.domain.experts.assignment import Purpose, Role, Stage
from annotator.domain.experts.publication import CHECKS, CheckState, FinalCheck, ItemChecks
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.item import PageState
from annotator.domain.texts import identifier
from annotator.storage.tables import ARTIFACT, ITEM, META, REVISION

PREFIX = "final pass/"
KINDS = (Kind.QUERY, Kind.RUBRIC, Kind.PLAN, Kind.EVIDENCE, Kind.DIAGNOSTICS, Kind.INSIGHTS)
_PERSONAL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+|\+\d[\d ()-]{7,}\d")
# The number of consecutive words shared by question and gold that may give the answer away.
SHARED_WORDS = 8


@dataclass(frozen=True, slots=True)
class ItemPass:
    item_id: str
    key: str
    checks: Mapping[str, FinalCheck]
    hints: Mapping[str, str]

    @property
    def open(self) -> list[str]:
        return unsigned(self.checks)


def unsigned(checks: Mapping[str, FinalCheck]) -> list[str]:
    return [name for name in CHECKS if name not in checks or checks[name].state is CheckState.PROBLEM]


def overview(project: Project) -> list[ItemPass]:
    question = select(ITEM.c.id, ITEM.c.key, ITEM.c.question).where(ITEM.c.retired.is_(False))
    with project.store.read() as db:
        rows = db.execute(question.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).all()
        checkses, words = all_checks(db), _words(db, [row.id for row in rows])
        addresses = {one for texts in words.values() for _, _, one in texts if one}
        pages = materials.pages_at(
            db, {str(identifier.parse(address) or address) for address in addresses}, texts=False
        )
    dead = {
        url: page.cause or page.state.value for url, page in pages.items() if page.state is PageState.DEAD
    }
    return [
        ItemPass(row.id, row.key, checkses.get(row.id, {}), _hints(row.question, words[row.id], dead))
        for row in rows
    ]


# Kind, text and identifier of a unit of an item's gold.
FieldText = tuple[Kind, str, str]


def _words(db: Connection, ids: Iterable[str]) -> dict[str, list[FieldText]]:
    result: dict[str, list[FieldText]] = {item_id: [] for item_id in ids}
    for kind in KINDS:
        for item_id, row in annotating.judged_rows(db, kind, list(result)).items():
            units = orjson.loads(row.content)["units"]
            result[item_id] += [(kind, unit["text"], str(unit.get("identifier", ""))) for unit in units]
    return result


def _hints(question: str, texts: list[FieldText], dead: Mapping[str, str]) -> dict[str, str]:
    """What the program noticed, by check; an empty result does not mean that a person would find nothing."""
    named = [one for _, _, one in texts if one]
    odd = [one for one in named if identifier.parse(one) is None]
    gone = [one for one in named if str(identifier.parse(one)) in dead]
    personal = [result for _, words, _ in texts for result in _PERSONAL.findall(words)]
    shared = {words for kind, words, _ in texts if kind is not Kind.QUERY and _shares(question, words)}
    hints = {
        "links": f"could not be read: {', '.join(gone)}" if gone else "",
        "identifiers": f"no identifier: {', '.join(odd)}" if odd else "",
        "content": f"looks personal: {', '.join(personal)}" if personal else "",
        "leak": f"the question says the same as: {'; '.join(sorted(shared))}" if shared else "",
    }
    return {name: words for name, words in hints.items() if words}


def _shares(question: str, words: str) -> bool:
    question_words, text = question.lower().split(), f" {' '.join(words.lower().split())} "
    runs = (
        question_words[start : start + SHARED_WORDS]
        for start in range(len(question_words) - SHARED_WORDS + 1)
    )
    return any(f" {' '.join(run)} " in text for run in runs)


def of_item(project: Project, item_id: str) -> ItemChecks:
    return {
        name: FinalCheck.model_validate(one) for name, one in project.get(f"{PREFIX}{item_id}", {}).items()
    }


def all_checks(db: Connection) -> dict[str, ItemChecks]:
    rows = db.execute(select(META.c.key, META.c.value).where(META.c.key.like(f"{PREFIX}%"))).all()
    return {
        key.removeprefix(PREFIX): {
            name: FinalCheck.model_validate(one) for name, one in orjson.loads(value).items()
        }
        for key, value in rows
    }


def sign(project: Project, item_id: str, check: str, state: str, note: str = "") -> Change:
    """Sign a check of an item; “open” removes the signature. A problem needs a note."""
    me = people.someone(project)
    if not (me.has(Role.COORDINATOR) or me.has(Role.ADJUDICATOR)):
        raise RoleNeeded(
            "Only coordinators and adjudicators sign the final pass.",
            "Ask one of them.",
            Role.COORDINATOR,
            Role.ADJUDICATOR,
        )
    states = [one.value for one in CheckState]
    if check not in CHECKS or state not in [*states, "open"]:
        raise Refusal(
            "The final pass has no such check or state.",
            f"Checks: {', '.join(CHECKS)}; states: {', '.join([*states, 'open'])}.",
        )
    if state == CheckState.PROBLEM.value and not note.strip():
        raise Refusal("Say what the problem is.", "Write it in the note; nothing was changed.")
    key, before = f"{PREFIX}{item_id}", of_item(project, item_id)
    after = {name: one for name, one in before.items() if name != check}
    if state != "open":
        at = now().isoformat(timespec="seconds")
        after[check] = well_formed(
            FinalCheck, {"state": state, "signed": me.alias, "at": at, "note": note.strip()}
        )
    images = tuple(
        {name: one.model_dump(mode="json") for name, one in sorted(of.items())} for of in (before, after)
    )
    return change_setting(project, key, f"sign {check}", *images)


def take(project: Project, came: Mapping[str, ItemChecks]) -> None:
    """Store the signatures of a release; existing ones stay."""
    for item_id, checks in came.items():
        signed = {name: check.model_dump(mode="json") for name, check in checks.items()}
        project.set(f"{PREFIX}{item_id}", signed | project.get(f"{PREFIX}{item_id}", {}))


MINUTE = 60


def is_handed_out(project: Project) -> bool:
    return any(line.purpose is Purpose.PILOT for line in board.board(project))


@people.for_coordinators("can summarize a pilot")
def summary(project: Project) -> str:
    """Markdown: the pilot items, agreement by stage, time by stage, remarks, and the guidelines written since.

    Raises Refusal for anyone who is not a coordinator, and if no pilot was handed out.
    """
    lines = required(
        [line for line in board.board(project) if line.purpose is Purpose.PILOT],
        "No pilot was handed out.",
        "Assign pilot items under People → Assign, or with assign --pilot.",
    )
    keys = {line.item_id: line.item_key for line in lines}
    everyone = {line.alias for line in lines}
    done = sum(line.handed_in for line in lines)
    by = counted(len(everyone), "person", "people")
    head = f"{counted(len(keys), 'item')} ({', '.join(keys.values())}) by {by}; "
    parts = [
        f"# Pilot of {project.title}",
        f"{head}{done:,} of {counted(len(lines), 'piece')} of work handed in.",
        *_section("Agreement", _agreement(project, set(keys))),
        *_section("Time", _time(lines)),
        *_section("Remarks", _remarks(project, keys)),
        *_section("Guidelines", _guidelines(project, {line.stage for line in lines})),
    ]
    return "\n\n".join(parts) + "\n"


def _section(heading: str, lines: Iterator[str]) -> list[str]:
    return [f"## {heading}", "\n".join(f"- {line}" for line in lines) or "Nothing yet."]


def _agreement(project: Project, items: set[str]) -> Iterator[str]:
    result, names = agreement_figures.frozen_inputs(project)
    of_pilot = [agreement for agreement in result if agreement.item_id in items]
    for row in agreement_figures.pooled(project, "stage", of_pilot, names) if of_pilot else ():
        figure = agreement_report.main(row)
        lacks, words = (
            agreement_report.reason(figure),
            " ".join(agreement_report.figure_words(figure).split()),
        )
        words = f"{agreement_report.title(figure)} {f'undefined: {lacks}' if lacks else words}"
        yield f"{row.stage.value}, {agreement_report.field(row)}: {words} (n = {row.n})"


def _time(lines: list[board.AssignmentStatus]) -> Iterator[str]:
    spent = grouped((line.stage, line.seconds / MINUTE) for line in lines if line.seconds)
    for stage, minutes in spent.items():
        yield (
            f"{stage.value}: median {median(minutes):.0f} minutes for an item, {min(minutes):.0f} to "
            f"{max(minutes):.0f}, {counted(len(minutes), 'document')}"
        )


def _remarks(project: Project, keys: dict[str, str]) -> Iterator[str]:
    """The notes people wrote on units and on whole documents, in their newest revisions."""
    aliases = {person.id: person.alias for person in people.people(project)}
    newest = (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision)
    question = select(ARTIFACT, REVISION.c.content).join(REVISION, newest)
    question = question.where(ARTIFACT.c.item_id.in_(keys), ARTIFACT.c.author_id != "")
    rows = project.query(question.order_by(ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.author_id)).all()
    for row in rows:
        tree = orjson.loads(row.content)
        where = f"{aliases.get(row.author_id, '')}, item {keys[row.item_id]}, {Kind(row.kind).value}"
        notes = (tree.get("remark", ""), *(unit.get("note", "") for unit in tree["units"]))
        yield from (f"{where}: {' '.join(note.split())}" for note in notes if note.strip())


def _guidelines(project: Project, stages: set[Stage]) -> Iterator[str]:
    for stage in Stage:
        for guideline in settings.versions(project, stage) if stage in stages else ():
            yield f"{stage.value}, version {guideline.version}, {guideline.at:%Y-%m-%d}"
