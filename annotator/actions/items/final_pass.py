"""The final pass over items: a checklist of each, with what the program can tell, and who signed."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import orjson
from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.authoring import annotating
from annotator.actions.items import materials
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.experts.final_pass import CHECKS, CheckState, FinalCheck, ItemChecks
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.page import PageState
from annotator.domain.texts import identifier
from annotator.domain.texts.change import Change, now
from annotator.domain.texts.refusal import Refusal, RoleNeeded
from annotator.domain.texts.well_formed import well_formed
from annotator.storage.tables import ITEM, META

KEPT = "final pass/"
KINDS = (Kind.QUERY, Kind.RUBRIC, Kind.PLAN, Kind.EVIDENCE, Kind.DIAGNOSTICS, Kind.INSIGHTS)
_PERSONAL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+|\+\d[\d ()-]{7,}\d")
# So many words in a row that question and gold share may give the answer away.
SHARED_WORDS = 8


@dataclass(frozen=True, slots=True)
class ItemPass:
    """The checklist of an item: what was signed, and what the program noticed, by check."""

    item_id: str
    key: str
    question: str
    checks: Mapping[str, FinalCheck]
    hints: Mapping[str, str]

    @property
    def open(self) -> list[str]:
        """What nobody has signed yet, or found a problem in."""
        return unsigned(self.checks)


def unsigned(checks: Mapping[str, FinalCheck]) -> list[str]:
    return [name for name in CHECKS if name not in checks or checks[name].state is CheckState.PROBLEM]


def overview(project: Project) -> list[ItemPass]:
    """The checklist of every item in use, in the project's order."""
    question = select(ITEM.c.id, ITEM.c.key, ITEM.c.question).where(ITEM.c.retired.is_(False))
    with project.store.read() as db:
        rows = db.execute(question.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).all()
        kept, words = all_kept(db), _words(db, [row.id for row in rows])
        addresses = {one for told in words.values() for _, _, one in told if one}
        pages = materials.pages_at(db, {str(identifier.parse(one) or one) for one in addresses}, texts=False)
    dead = {
        url: page.cause or page.state.value for url, page in pages.items() if page.state is PageState.DEAD
    }
    return [
        ItemPass(
            row.id, row.key, row.question, kept.get(row.id, {}), _hints(row.question, words[row.id], dead)
        )
        for row in rows
    ]


# Kind, words and identifier of a unit of an item's gold.
Told = tuple[Kind, str, str]


def _words(db: Connection, ids: Iterable[str]) -> dict[str, list[Told]]:
    found: dict[str, list[Told]] = {item_id: [] for item_id in ids}
    for kind in KINDS:
        for item_id, row in annotating.judged_rows(db, kind, list(found)).items():
            units = orjson.loads(row.content)["units"]
            found[item_id] += [(kind, unit["text"], str(unit.get("identifier", ""))) for unit in units]
    return found


def _hints(question: str, told: list[Told], dead: Mapping[str, str]) -> dict[str, str]:
    """What the program noticed, by check; empty says nothing of what a person would find."""
    named = [one for _, _, one in told if one]
    odd = [one for one in named if identifier.parse(one) is None]
    gone = [one for one in named if str(identifier.parse(one)) in dead]
    personal = [found for _, words, _ in told for found in _PERSONAL.findall(words)]
    shared = {words for kind, words, _ in told if kind is not Kind.QUERY and _shares(question, words)}
    hints = {
        "links": f"could not be read: {', '.join(gone)}" if gone else "",
        "identifiers": f"no identifier: {', '.join(odd)}" if odd else "",
        "content": f"looks personal: {', '.join(personal)}" if personal else "",
        "leak": f"the question says the same as: {'; '.join(sorted(shared))}" if shared else "",
    }
    return {name: words for name, words in hints.items() if words}


def _shares(question: str, words: str) -> bool:
    asked, said = question.lower().split(), f" {' '.join(words.lower().split())} "
    runs = (asked[start : start + SHARED_WORDS] for start in range(len(asked) - SHARED_WORDS + 1))
    return any(f" {' '.join(run)} " in said for run in runs)


def of_item(project: Project, item_id: str) -> ItemChecks:
    kept = project.get(f"{KEPT}{item_id}", {})
    return {name: FinalCheck.model_validate(one) for name, one in kept.items()}


def all_kept(db: Connection) -> dict[str, ItemChecks]:
    rows = db.execute(select(META.c.key, META.c.value).where(META.c.key.like(f"{KEPT}%"))).all()
    return {
        key.removeprefix(KEPT): {
            name: FinalCheck.model_validate(one) for name, one in orjson.loads(value).items()
        }
        for key, value in rows
    }


def sign(project: Project, item_id: str, check: str, state: str, note: str = "") -> Change:
    """Sign what was found of an item; “open” takes a signature back. A problem says what it is."""
    me = people.someone(project)
    if not (me.has(Role.COORDINATOR) or me.has(Role.ADJUDICATOR)):
        happened = "Only coordinators and adjudicators sign the final pass."
        raise RoleNeeded(happened, "Ask one of them.", Role.COORDINATOR, Role.ADJUDICATOR)
    states = [one.value for one in CheckState]
    if check not in CHECKS or state not in [*states, "open"]:
        raise Refusal(
            "The final pass has no such check or state.",
            f"Checks: {', '.join(CHECKS)}; states: {', '.join([*states, 'open'])}.",
        )
    if state == CheckState.PROBLEM.value and not note.strip():
        raise Refusal("Say what the problem is.", "Write it in the note; nothing was changed.")
    key, before = f"{KEPT}{item_id}", of_item(project, item_id)
    after = {name: one for name, one in before.items() if name != check}
    if state != "open":
        at = now().isoformat(timespec="seconds")
        found = {"state": state, "signed": me.alias, "at": at, "note": note.strip()}
        after[check] = well_formed(FinalCheck, found)
    images = tuple(
        {name: one.model_dump(mode="json") for name, one in sorted(of.items())} for of in (before, after)
    )
    with project.store.write() as db:
        project.set(key, images[1])
        return record(project, db, Change("setting", key, f"sign {check}", images[0], images[1]))


def take(project: Project, came: Mapping[str, ItemChecks]) -> None:
    """Keep what a release says was signed; what was signed here stays."""
    for item_id, checks in came.items():
        kept = {name: one.model_dump(mode="json") for name, one in checks.items()}
        project.set(f"{KEPT}{item_id}", kept | project.get(f"{KEPT}{item_id}", {}))
