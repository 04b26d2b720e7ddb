"""Runs that pair the units of two raters by meaning, over frozen lists alone."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, TextIO

from sqlalchemy.engine import Connection

from annotator.actions.agreement import agreement_inputs, assisted
from annotator.actions.authoring import comparing
from annotator.actions.consensus import letters
from annotator.actions.items import materials
from annotator.actions.project.file import Project
from annotator.actions.runs import run_lines
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_kind import RunKind, Tell, failure_words, with_failures
from annotator.actions.runs.run_lines import RunEvent
from annotator.actions.runs.run_records import OpenRun
from annotator.domain.experts.agreement import AssistedPair, PairAgreement, under
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.judge import Judge, RunState
from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Ask, Case, Protocol, Verdicts
from annotator.domain.judges.scale import plain
from annotator.domain.kinds.artifact import Unit
from annotator.domain.texts.refusal import Refusal
from annotator.judging.runs.progress import Finished
from annotator.protocols.pairing import NAME, PROMPTS, paired
from annotator.storage import upserts
from annotator.storage.tables import ASSISTED

PAIRED, DEED = "paired", "pairs of lists paired"


def order(judge: str, stage: Stage | None = None, **how: Any) -> RunRequest:
    """What is asked of a judge that pairs, of all stages or of one; `how` says how fast, and for how much money."""
    return RunRequest(judge, f"{NAME}.{stage.value}" if stage else NAME, **how)


class PairingRun(RunKind):
    """A run in which a judge pairs what it has not paired yet; nothing frozen changes.

    Where nothing lacks, no run is begun. The last line lists under `failed` what did not come, with its cause.
    """

    doing = "pairing"
    things, reply_tokens = "pairings", 200

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """Refusal for anyone but coordinators, for a judge without a model, and where there is nothing to pair."""
        judge = assisted.asked_judge(project, order.judge)
        shape = Protocol(
            name=NAME, title="Pairing by meaning", citation="", needs=(), metrics=(), scale=plain(PAIRED),
            judge=self._ask, prompts=PROMPTS,
        )  # fmt: skip
        frozen, names = agreement_inputs.frozen(project)
        stage = order.protocol.removeprefix(NAME).removeprefix(".")
        chosen = [one for one in frozen if stage in ("", one.stage.value)]
        self._prompt = assisted.prompt_sha256(project)
        self.lists = assisted.lists(judge, chosen, self._prompt)
        if not self.lists:
            raise Refusal(
                "No frozen lists here are matched by words, so there is nothing to pair by meaning.",
                "Wait until two people have submitted lists, or choose another stage.",
            )
        with project.store.read() as db:
            there = {one.id for one in assisted.stored(db, {agreement.id for agreement in chosen})}
        self.to_do = [of for of in self.lists if of not in there]
        self.failed: list[dict[str, str]] = []
        self._keys = names.items
        self._found: dict[str, PairAgreement] = {}
        return judge, shape

    @classmethod
    async def run(
        cls, project: Project, order: RunRequest, *, tell: Tell = lambda _: None, listen: TextIO | None = None
    ) -> RunEvent:
        """Run an order, if anything lacks."""
        kind = cls(project, order)
        if kind.to_do:
            return await super().run(project, order, tell=tell, listen=listen)
        ended = kind._nothing_to_ask()
        tell(ended)
        return ended

    async def through(self, tell: Tell, listen: TextIO | None) -> RunEvent:
        """Open the run, unless another has paired the rest meanwhile."""
        return await super().through(tell, listen) if self.to_do else self._nothing_to_ask()

    def _nothing_to_ask(self) -> RunEvent:
        from annotator.judging.runs.progress import ProgressTally
        from annotator.judging.runs.runner import RunEnd

        ended, total = RunEnd(RunState.DONE, ProgressTally().told((), None)), len(self.lists)
        return with_failures(run_lines.ended_line("", DEED, ended, total, total), [])

    def journal(self, run_id: str) -> RunJournal:
        return _PairingJournal(self.project, run_id, self)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        """A case for each pair of lists that there is no reply of."""
        before = len(self.lists) - len(self.to_do)
        return RunWork(self.shape, self.cases, len(self.lists), before, DEED)

    def ended(self, line: RunEvent, journal: RunJournal) -> RunEvent:
        return with_failures(line, self.failed)

    @staticmethod
    def words(line: RunEvent) -> list[str]:
        """The last line of a run as a person reads it."""
        return failure_words(line, lambda one: f"Item {one['item']}, {one['stage']}")

    def cases(self) -> Iterator[Case]:
        """A case for each pair of lists that there is no reply of."""
        of_item: dict[str, list[str]] = {}
        for of in self.to_do:
            of_item.setdefault(self.lists[of][0].item_id, []).append(of)
        wanted = materials.WantedMaterial((), texts=False, parts=False)
        for at_hand in materials.each(self.project, wanted, list(of_item)):
            for of in of_item[at_hand.item.id]:
                yield Case(NAME, at_hand.item, at_hand.own.response, "", (Unit(id=of),))

    async def _ask(self, case: Case, ask: Ask) -> Verdicts:
        agreement, pair = self.lists[case.unit.id]
        with self.project.store.read() as db:
            documents = letters.sealed(db, agreement, {pair.a: pair.a, pair.b: pair.b})
        a, b = documents[pair.a].units, documents[pair.b].units
        answer = await paired(case.item.question, [unit.text for unit in a], [unit.text for unit in b], ask)
        if answer.status is not Status.OK:
            return {case.unit.id: answer.verdict()}
        kind, pairs = letters.kind_of_stage(agreement.stage), [(a[i].id, b[j].id) for i, j in answer.reply]
        self._found[case.unit.id] = comparing.compare_raters(kind, documents, pair.a, pair.b, pairs)
        return {case.unit.id: Verdict(value=PAIRED)}

    def made(self, finished: Finished, run_id: str, at: datetime) -> AssistedPair | None:
        """What came of a case; None where nothing did, which is then among what failed."""
        of, verdict = finished.case.unit.id, finished.verdicts[finished.case.unit.id]
        agreement, found = self.lists[of][0], self._found.pop(of, None)
        if found is None:
            told = {"item": self._keys[agreement.item_id], "stage": agreement.stage.value}
            self.failed.append({**told, "status": verdict.status.value, "cause": verdict.cause})
            return None
        answered = [call.returned_model for call in (*finished.calls, *finished.reused)]
        return AssistedPair(
            **{**dict(found), "figures": under(assisted.PREFIX, found.figures)},
            id=of, agreement_id=agreement.id, judge_id=self.judge.id, model=self.judge.model,
            parameters=assisted.settings_of(self.judge), answered_by=answered[-1],
            prompt_sha256=self._prompt, run_id=run_id, at=at,
        )  # fmt: skip


class _PairingJournal(RunJournal):
    """A journal that stores finished cases as pairs, beside the agreement."""

    def __init__(self, project: Project, run_id: str, asking: PairingRun) -> None:
        super().__init__(project, run_id, asking.judge.id, NAME)
        self._asking = asking

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        """Write what was paired, in the transaction of its calls."""
        rows = [assisted.row(one) for each in done if (one := self._asking.made(each, self.run_id, at))]
        if rows:
            # An import may have brought the same meanwhile.
            upserts.add_missing(db, ASSISTED, rows)
        return len(rows)


run = PairingRun.run
