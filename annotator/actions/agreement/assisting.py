"""Runs that pair the units of two raters by meaning, over frozen lists alone."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO

from sqlalchemy import Connection, func, select

from annotator.actions.agreement import agreement_figures
from annotator.actions.authoring import comparing
from annotator.actions.consensus import ruling_rows
from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_kind import RunKind, RunWork, Tell, failure_words, with_failures
from annotator.domain.common import Refusal, canonical_json, counted, derived_id, grouped, sha256
from annotator.domain.experts.adjudication import Agreement, AssistedPair, PairAgreement, under
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.judge import Judge, JudgeKind, RunState, Status, Verdict
from annotator.domain.judges.protocol import Ask, Case, Protocol, Verdicts, plain
from annotator.domain.kinds.artifact import Unit
from annotator.judging.runner import Finished, Progress, RunEnd
from annotator.protocols.merging import NAME, PROMPTS, paired
from annotator.storage import tables

if TYPE_CHECKING:
    from annotator.exchange.release.records import AgreementRecord

PREFIX = "assisted_"
# The number of characters of a hash shown to tell prompts apart.
SHOWN_OF_HASH = 12
# Id of an assisted pair → the agreement, and the pair of raters whose lists are paired.
Lists = dict[str, tuple[Agreement, PairAgreement]]


@dataclass(frozen=True, slots=True)
class Assistance:
    """The number of pairs of lists with a judge's reply; `records` are the agreements under its pairing.

    They contain only the pairs of raters with a reply.
    """

    judge: str
    model: str
    parameters: str
    prompt_sha256: str
    lists: int
    there: int
    records: tuple[Agreement, ...]

    @property
    def title(self) -> str:
        return _title(self.model, self.parameters, self.prompt_sha256)

    def words(self) -> str:
        if not self.lists:
            return "No lists here are matched by words, so there is nothing to pair by meaning."
        left = self.lists - self.there
        rest = f" Without a reply: {left:,}, excluded, never counted as no match."
        sentence = f"“{self.judge}” has paired {self.there:,} of {counted(self.lists, 'pair')} of lists"
        return f"{sentence} ({self.title}).{rest if left else ''}"

    def tree(self) -> dict[str, Any]:
        names = ("judge", "model", "parameters", "prompt_sha256", "lists", "there")
        return {name: getattr(self, name) for name in names}


def _title(model: str, parameters: str, prompt_sha256: str) -> str:
    settings = f" {parameters}" if parameters != "{}" else ""
    return f"model-assisted: {model}{settings}, prompt {prompt_sha256[:SHOWN_OF_HASH]}"


def settings_of(judge: Judge) -> str:
    return canonical_json(json.loads(judge.parameters or "{}")).decode()


def endpoint_judge(project: Project, name: str) -> Judge:
    """The judge of that name; raises Refusal if it calls no model."""
    judge = judges.named(project, name)
    if judge.kind != JudgeKind.ENDPOINT:
        raise Refusal(
            f"“{name}” calls no model and cannot pair by meaning.", "Name a judge with an endpoint."
        )
    return judge


def offered(project: Project) -> list[tuple[str, int]]:
    question = select(tables.ASSISTED.c.judge_id, func.count()).group_by(tables.ASSISTED.c.judge_id)
    counts: dict[str, int] = dict(project.query(question).all())
    result = [
        (judge.name, counts.get(judge.id, 0))
        for judge in judges.all_of(project)
        if judge.kind == JudgeKind.ENDPOINT
    ]
    return sorted(result, key=lambda one: (-one[1], one[0]))


def prompt_sha256(project: Project) -> str:
    return run_records.prompts_hash(project, PROMPTS)


def lists(judge: Judge, agreements: Iterable[Agreement], prompt: str) -> Lists:
    """The pairs of lists whose units are matched by their words, by the id of their assisted pair for this judge.

    The id depends on the judge's model and settings, and on `prompt`, the hash of its prompt.
    """
    asked_by = (judge.id, judge.model, settings_of(judge), prompt)
    return {
        derived_id("assisted pair", agreement.id, pair.a, pair.b, *asked_by): (agreement, pair)
        for agreement in agreements
        if comparing.by_words(agreement.stage.kind)
        for pair in agreement.pairs
    }


def assistance(project: Project, frozen: Iterable[Agreement], name: str) -> Assistance:
    """The pairing of these agreements by the judge of that name, with its present settings and prompt."""
    judge = endpoint_judge(project, name)
    settings = (judge.model, settings_of(judge), prompt_sha256(project))
    pairs = lists(judge, frozen, settings[-1])
    agreements = {agreement.id: agreement for agreement, _ in pairs.values()}
    with project.store.read() as db:
        pairs_stored = [pair for pair in stored(db, agreements) if pair.id in pairs]
    return Assistance(
        judge.name, *settings, len(pairs), len(pairs_stored), _by_meaning(agreements, pairs_stored)
    )


def ways(
    records: Sequence["AgreementRecord"], judge_names: Mapping[str, str]
) -> list[tuple[str, list[Agreement]]]:
    """The agreements as paired by each judge, with a title; empty if no judge paired any.

    Judges with the same title are told apart by name.
    """
    agreements = {one.id: one.frozen() for one in records}
    by = grouped(
        ((_title(one.model, one.parameters, one.prompt_sha256), one.judge_id), one)
        for one in (each for record in records for each in record.assisted)
    )
    judges_of = Counter(called for called, _ in by)
    return [
        (
            called if judges_of[called] == 1 else f"{called}, judge “{judge_names[judge_id]}”",
            list(_by_meaning(agreements, pairs)),
        )
        for (called, judge_id), pairs in sorted(by.items())
    ]


def _by_meaning(
    agreements: Mapping[str, Agreement], assisted_pairs: Iterable[AssistedPair]
) -> tuple[Agreement, ...]:
    """The agreements with the units as a judge paired them, to be pooled beside the frozen ones."""
    pairs: dict[str, list[PairAgreement]] = {}
    for pair in assisted_pairs:
        plain = [each.model_copy(update={"name": each.name.removeprefix(PREFIX)}) for each in pair.figures]
        pairs.setdefault(pair.agreement_id, []).append(pair.model_copy(update={"figures": tuple(plain)}))
    return tuple(
        agreement.model_copy(update={"pairs": tuple(pairs[of]), "figures": ()})
        for of, agreement in agreements.items()
        if of in pairs
    )


def stored(db: Connection, agreements: Collection[str]) -> list[AssistedPair]:
    rows = db.execute(
        select(tables.ASSISTED.c.agreement_id, tables.ASSISTED.c.content).order_by(tables.ASSISTED.c.id)
    )
    return [
        AssistedPair.model_validate(json.loads(row.content)) for row in rows if row.agreement_id in agreements
    ]


def row(pair: AssistedPair) -> dict[str, Any]:
    content = canonical_json(pair.model_dump(mode="json"))
    named = {"id": pair.id, "agreement_id": pair.agreement_id, "judge_id": pair.judge_id}
    return {**named, "content": content.decode(), "sha256": sha256(content)}


PAIRED, DEED = "paired", "pairs of lists paired"


def order(judge: str, stage: Stage | None = None, **how: Any) -> RunRequest:
    """The request to a judge to pair, of all stages or of one; `how` sets speed and budget."""
    return RunRequest(judge, f"{NAME}.{stage.value}" if stage else NAME, **how)


class PairingRun(RunKind):
    """A run in which a judge pairs what it has not paired yet; nothing frozen changes.

    If nothing is missing, no run is opened. The last event lists failures with their cause under `failed`.
    """

    doing = "pairing"
    things, reply_tokens = "pairings", 200

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """Raises Refusal for non-coordinators, for a judge without a model, or if there is nothing to pair."""
        judge = endpoint_judge(project, order.judge)
        protocol = Protocol(
            name=NAME, title="Pairing by meaning", citation="", needs=(), metrics=(), scale=plain(PAIRED),
            judge=self._ask, prompts=PROMPTS,
        )  # fmt: skip
        frozen, names = agreement_figures.frozen_inputs(project)
        stage = order.protocol.removeprefix(NAME).removeprefix(".")
        chosen = [one for one in frozen if stage in ("", one.stage.value)]
        self._prompt = prompt_sha256(project)
        self.lists = lists(judge, chosen, self._prompt)
        if not self.lists:
            raise Refusal(
                "No frozen lists here are matched by words, so there is nothing to pair by meaning.",
                "Wait until two people have submitted lists, or choose another stage.",
            )
        with project.store.read() as db:
            done = {pair.id for pair in stored(db, {agreement.id for agreement in chosen})}
        self.to_do = [of for of in self.lists if of not in done]
        self.failed: list[dict[str, str]] = []
        self._keys = names.items
        self._agreements: dict[str, PairAgreement] = {}
        return judge, protocol

    @classmethod
    async def run(
        cls, project: Project, order: RunRequest, *, tell: Tell = lambda _: None, listen: TextIO | None = None
    ) -> run_records.RunEvent:
        kind = cls(project, order)
        if kind.to_do:
            return await super().run(project, order, tell=tell, listen=listen)
        ended = kind._nothing_to_ask()
        tell(ended)
        return ended

    async def through(self, tell: Tell, listen: TextIO | None) -> run_records.RunEvent:
        """Run, unless another run has paired the rest meanwhile."""
        return await super().through(tell, listen) if self.to_do else self._nothing_to_ask()

    def _nothing_to_ask(self) -> run_records.RunEvent:
        ended, total = RunEnd(RunState.DONE, Progress()), len(self.lists)
        return with_failures(run_records.ended_line("", DEED, ended, total, total), [])

    def work(self, run: run_records.OpenRun, journal: RunJournal) -> RunWork:
        return RunWork(self.protocol, self.cases, len(self.lists), len(self.lists) - len(self.to_do), DEED)

    def ended(self, line: run_records.RunEvent, journal: RunJournal) -> run_records.RunEvent:
        return with_failures(line, self.failed)

    @staticmethod
    def words(line: run_records.RunEvent) -> list[str]:
        return failure_words(line, lambda one: f"Item {one['item']}, {one['stage']}")

    def cases(self) -> Iterator[Case]:
        of_item = grouped((self.lists[of][0].item_id, of) for of in self.to_do)
        material = materials.MaterialRequest((), texts=False, parts=False)
        for at_hand in materials.each(self.project, material, list(of_item)):
            for of in of_item[at_hand.item.id]:
                yield Case(NAME, at_hand.item, at_hand.own.response, "", (Unit(id=of),))

    async def _ask(self, case: Case, ask: Ask) -> Verdicts:
        agreement, pair = self.lists[case.unit.id]
        with self.project.store.read() as db:
            documents = ruling_rows.sealed(db, agreement, {pair.a: pair.a, pair.b: pair.b})
        a, b = documents[pair.a].units, documents[pair.b].units
        answer = await paired(case.item.question, [unit.text for unit in a], [unit.text for unit in b], ask)
        if answer.status is not Status.OK:
            return {case.unit.id: answer.verdict()}
        kind, pairs = (
            ruling_rows.kind_of(agreement.stage),
            [(a[i].id, b[j].id) for i, j in answer.reply],
        )
        self._agreements[case.unit.id] = comparing.compare_raters(kind, documents, pair.a, pair.b, pairs)
        return {case.unit.id: Verdict(value=PAIRED)}

    def keep(self, journal: RunJournal, db: Connection, done: list[Finished], at: datetime) -> int:
        rows = [row(pair) for each in done if (pair := self.made(each, journal.run_id, at))]
        if rows:
            # An import may have added the same meanwhile.
            tables.add_missing(db, tables.ASSISTED, rows)
        return len(rows)

    def made(self, finished: Finished, run_id: str, at: datetime) -> AssistedPair | None:
        """The result of a case; None if it failed, which is then recorded in `failed`."""
        of, verdict = finished.case.unit.id, finished.verdicts[finished.case.unit.id]
        agreement, result = self.lists[of][0], self._agreements.pop(of, None)
        if result is None:
            place = {"item": self._keys[agreement.item_id], "stage": agreement.stage.value}
            self.failed.append({**place, "status": verdict.status.value, "cause": verdict.cause})
            return None
        answered = [call.returned_model for call in (*finished.calls, *finished.reused)]
        return AssistedPair(
            **{**dict(result), "figures": under(PREFIX, result.figures)},
            id=of, agreement_id=agreement.id, judge_id=self.judge.id, model=self.judge.model,
            parameters=settings_of(self.judge), answered_by=answered[-1],
            prompt_sha256=self._prompt, run_id=run_id, at=at,
        )  # fmt: skip
