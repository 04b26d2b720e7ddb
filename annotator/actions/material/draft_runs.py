"""Runs in which a model drafts for a person, each draft a private proposal."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select, update

from annotator.actions.authoring import annotating
from annotator.actions.items import items, materials
from annotator.actions.items.extracts import NewExtract, keep_row
from annotator.actions.judges import judges
from annotator.actions.material.model_drafts import proposals, proposed, requested_by
from annotator.actions.project import people, profile
from annotator.actions.project.file import Project, record
from annotator.actions.runs import judge_cases
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.run_kind import RunKind, RunWork, failure_words, with_failures
from annotator.actions.runs.run_records import OpenRun, RunEvent
from annotator.domain.experts.assignment import Person
from annotator.domain.judges.judge import Judge, JudgeKind, Status, Verdict
from annotator.domain.judges.protocol import (
    Ask,
    Case,
    Extracted,
    Extraction,
    Material,
    Protocol,
    Verdicts,
    plain,
)
from annotator.domain.kinds.artifact import Kind, State, Unit
from annotator.domain.material.extract import PIECE_WORDS, for_person
from annotator.domain.material.part import NAMES, WriterAid
from annotator.domain.texts.canonical import Change, sha256
from annotator.domain.texts.refusal import Refusal, refuse_other
from annotator.judging.runner import Finished
from annotator.protocols import DRAFTS
from annotator.protocols.drafts import DRAFTED_DIAGNOSTICS, DRAFTED_RUBRIC
from annotator.storage.tables import EXTRACT

DRAFTED = "drafted"
# Words of a piece of a transcript.
FEWEST, MOST = 100, 20_000
# What a model may be asked to draft, by the kind it makes.
OFFERED: dict[Kind | WriterAid, Extraction] = {
    proposed(one.makes): one for one in (*DRAFTS.values(), DRAFTED_RUBRIC, DRAFTED_DIAGNOSTICS)
}
# Runs of it are distinguished from those that draw for everybody.
PREFIX = "proposal."
_LETTERS_OF_TRIAL = 8


def kind_of(name: str) -> Kind | WriterAid:
    """The kind of that name; Refusal when there is none."""
    if name not in {*Kind, *WriterAid}:
        raise Refusal(f"“{name}” is not a kind of document.", f"Choose one of {', '.join(OFFERED)}.")
    return proposed(name)


def offered(project: Project) -> list[Kind | WriterAid]:
    """What models draft of what the project uses, beside the type of an item."""
    used = profile.profile(project).kinds
    return [kind for kind in OFFERED if kind in used or kind is WriterAid.REFERENCE]


def protocol_name(kind: Kind | WriterAid) -> str:
    """The name under which a run that drafts a kind is kept; Refusal for a kind that no model is asked for."""
    refuse_other(kind, OFFERED, f"Models do not draft {_named(kind)}.", "Choose one of")
    return PREFIX + OFFERED[kind].name


def wording(kind: Kind | WriterAid) -> str:
    """The name of the prompt by which a kind is asked for."""
    return OFFERED[kind].prompts[0]


def _checked(project: Project, order: judge_cases.RunRequest) -> tuple[Extraction, Judge]:
    result = {PREFIX + one.name: one for one in OFFERED.values()}
    refuse_other(order.protocol, result, f"“{order.protocol}” cannot be drafted.", "Available:")
    if not order.items:
        raise Refusal("No items are given to draft for.", "Name one or more: --item KEY.")
    extraction, judge = result[order.protocol], judges.named(project, order.judge)
    if judge.kind == JudgeKind.DERIVED:
        raise Refusal("A vote drafts nothing.", "Choose a judge with an endpoint.")
    if order.piece_words and not FEWEST <= order.piece_words <= MOST:
        raise Refusal(
            f"Pieces have {FEWEST} to {MOST} words.", "Give another size, or leave --piece-words out."
        )
    if judge.kind == JudgeKind.BASELINE and extraction.baseline is None:
        raise Refusal(
            f"A model is needed to draft {_named(proposed(extraction.makes))}.",
            "Choose a judge with an endpoint.",
        )
    judge_cases.checked_scope(project, replace(order, systems=()))
    items.refuse_kind(project, order.items, proposed(extraction.makes))
    return extraction, judge


def _named(kind: Kind | WriterAid) -> str:
    return NAMES[kind] if isinstance(kind, WriterAid) else f"a {kind.value}"


class DraftRun(RunKind):
    """A run in which a judge drafts for the person working; `protocol` names the kind of draft.

    An item with a draft that they have not dealt with gets no second one. The last line lists under `failed` what did
    not come, with its cause.
    """

    doing, resumed, skips = "drafting", False, True
    things, reply_tokens = "drafts", 1_500

    def read(self, project: Project, order: judge_cases.RunRequest) -> tuple[Judge, Protocol]:
        """The judge, and the extraction as a protocol."""
        self._extraction, judge = _checked(project, order)
        self.kind = proposed(self._extraction.makes)
        self.person: Person = people.someone(project)
        self.items = materials.item_ids(project, order.items)
        self.to_do = [item for item in self.items if not proposals(project, item, self.kind)]
        self.found: dict[str, Extracted] = {}
        self.failed: list[dict[str, Any]] = []
        self._materials: dict[str, Material] = {}
        extraction = self._extraction
        return judge, Protocol(
            name=order.protocol,
            title=extraction.title,
            citation=extraction.citation,
            needs=(),
            metrics=(),
            scale=plain(DRAFTED),
            judge=self._ask,
            baseline=self._draw if extraction.baseline else None,
            prompts=extraction.prompts,
        )

    def journal(self, run_id: str) -> RunJournal:
        return _DraftJournal(self.project, run_id, self.judge.id, self)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        return RunWork(
            self.protocol, self.cases, len(self.to_do), 0, f"{self._extraction.makes.value} drafted"
        )

    def ended(self, line: RunEvent, journal: RunJournal) -> RunEvent:
        waiting = [items.read(self.project, item).key for item in self.items if item not in self.to_do]
        return {**with_failures(line, self.failed), "waiting": waiting}

    @staticmethod
    def words(line: RunEvent) -> list[str]:
        sentences = failure_words(line, lambda one: f"Item {one['item']}")
        keys = line.get("waiting", ())
        open_ = f"Not asked again, as a draft is open: {', '.join(keys)}. Take or refuse it first."
        return [*sentences, open_] if keys else sentences

    def cases(self) -> Iterator[Case]:
        """A case for each item, with what this person may see of it.

        Its trial is theirs: nobody is served from the journal what another was shown.
        """
        material = materials.WantedMaterial((), texts=self._extraction.exemplar, sources=True)
        for at_hand in materials.each(self.project, material, self.to_do):
            item = at_hand.item
            # What is settled comes before what the person wrote, which comes before what was imported.
            seen = sorted(
                reversed(annotating.artifacts_of(self.project, item.id)),
                key=lambda artifact: artifact.state is State.CONSENSUS,
            )
            documents = {artifact.kind: artifact.document for artifact in seen}
            size = self.order.piece_words or PIECE_WORDS
            self._materials[item.id] = replace(at_hand.own, documents=documents, piece_words=size)
            unit = Unit(id=self.kind.value)
            yield Case(self.order.protocol, item, at_hand.own.response, "", (unit,), self._trial(item.id))

    def number(self, item_id: str) -> int:
        return 1 + int(
            self.project.query(
                select(func.count()).where(
                    EXTRACT.c.item_id == item_id,
                    EXTRACT.c.kind == self.kind.value,
                    requested_by(self.person.id),
                )
            ).scalar_one()
        )

    def _trial(self, item_id: str) -> int:
        return 1 + int(sha256(f"{self.person.id}/{self.number(item_id)}")[:_LETTERS_OF_TRIAL], 16)

    async def _ask(self, case: Case, ask: Ask) -> Verdicts:
        drawn = await self._extraction.extract(self._materials.pop(case.item.id), ask)
        return self._laid_aside(case, drawn)

    def _draw(self, case: Case) -> Verdicts:
        draw = self._extraction.baseline
        return self._laid_aside(case, draw(self._materials.pop(case.item.id))) if draw else {}

    def _laid_aside(self, case: Case, drawn: Extracted) -> Verdicts:
        flags = " ".join(drawn.flags)
        if drawn.document is None or not drawn.document.units:
            status = Status.UNCLEAR if drawn.status is Status.OK else drawn.status
            return {
                case.unit.id: Verdict(status=status, cause=drawn.cause or "Nothing was drafted.", flags=flags)
            }
        self.found[case.item.id] = drawn
        return {case.unit.id: Verdict(value=DRAFTED, flags=flags)}


class _DraftJournal(RunJournal):
    def __init__(self, project: Project, run_id: str, judge_id: str, session: DraftRun) -> None:
        super().__init__(project, run_id, judge_id, PREFIX + session.kind.value)
        self._session = session

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        """Write what was drafted, in the transaction of its calls."""
        count = 0
        for finished in done:
            item, verdict = finished.case.item, next(iter(finished.verdicts.values()))
            result = self._session.found.pop(item.id, None)
            if result is None or result.document is None or verdict.status is not Status.OK:
                failure = {"item": item.key, "status": verdict.status.value, "cause": verdict.cause}
                self._session.failed.append(failure)
                continue
            person, kind = self._session.person, self._session.kind
            origin = for_person(self._judge_id, person.id, self._session.number(item.id))
            extract = NewExtract(item.id, "", kind, result.document, origin, verdict.flags, self.run_id)
            _, row = keep_row(db, extract)
            db.execute(update(EXTRACT).where(EXTRACT.c.id == row["id"]).values(by=person.id))
            about = {"item": item.key, "kind": kind.value, "run": self.run_id, "for": person.id}
            record(self._project, db, Change("extract", row["id"], "draft", None, about))
            count += 1
        return count


run = DraftRun.run
