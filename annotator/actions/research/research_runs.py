"""Runs in which a system of several steps searches works, chooses among them and writes on each item."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from itertools import count
from math import fsum
from typing import Any, ClassVar

from annotator.actions.judges import judges
from annotator.actions.material import response_journal
from annotator.actions.material.responding import ResponseRun
from annotator.actions.material.response_journal import WrittenResponse
from annotator.actions.material.response_settings import ResearchSettings
from annotator.actions.project.file import Project
from annotator.actions.research.work_search import ArxivSearch, CorpusSearch, OwnPaper, SearchFailed
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_lines import RunEvent
from annotator.domain.judges.judge import Call, Judge, JudgeKind
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Ask, Case, Material, Protocol, Verdicts
from annotator.domain.material.page import Page, PageState
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.work import CatalogueWork
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.change import now
from annotator.domain.texts.refusal import Refusal
from annotator.protocols.lent import reference_system

NO_CORPUS = Refusal(
    "The baseline asks no service, so that it has nothing to search in.", "Name a collection of works."
)


class ResearchRun(ResponseRun):
    """A run of the reference system. Its responses list the works that were given to the writer."""

    doing, reply_tokens, at_most, cut_by_item = "researching", 120, True, True
    service: ClassVar[type[ArxivSearch]] = ArxivSearch
    """What is searched where no collection is named."""

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """Whose endpoint writes, and the steps in the shape of a protocol; a collection is read at once."""
        judge, shape = super().read(project, order)
        how = self._manner
        self._system_settings = (
            how.system if isinstance(how, ResearchSettings) else reference_system.SystemSettings()
        )
        self._searches = not self._system_settings.oracle
        self._corpus = CorpusSearch(order.corpus) if order.corpus and self._searches else None
        if judge.kind == JudgeKind.BASELINE and self._searches and self._corpus is None:
            raise NO_CORPUS
        self._where = self._corpus or self.service(project)
        self._foreseen = False
        citation = reference_system.CITATION
        return judge, replace(shape, title="Reference system", citation=citation, baseline=self._calculated)

    def outlook(self) -> RunWork:
        """What it would come to now; no service is asked for it."""
        self._foreseen = True
        return super().outlook()

    def writer(self) -> Judge:
        """Who writes; the baseline asks nobody."""
        return judges.kept(self.project, self.judge) if self._by_rule() else super().writer()

    def asker(self) -> Judge:
        return self.judge if self._by_rule() else super().asker()

    def asked(self, parameters: str = "") -> str:
        """By which prompts, in how many steps, and where works were searched."""
        how = self._system_settings
        prompts = ("none, baseline",) if self._by_rule() else self._manner.prompts
        rounds = f"rounds {how.rounds}, queries {how.queries}, works a query {how.per_query}"
        told = (
            [f"kept {how.keep}", f"searched in {self._where.name}"]
            if self._searches
            else [f"given: {how.mode}"]
        )
        if self._searches and not self._by_rule():
            told.insert(0, rounds)
        told += [f"words {how.words}"] if how.words else []
        return response_journal.asked_words(prompts, parameters, ", ".join(told))

    def ended(self, line: RunEvent, journal: RunJournal) -> RunEvent:
        """The last line with what failed, and what became of the works of each report."""
        return {
            **super().ended(line, journal),
            "written": response_journal.written_in(self.project, journal.run_id),
            "departures": list(reference_system.DIFFERENCES),
        }

    @staticmethod
    def words(line: RunEvent) -> list[str]:
        """The last line as a person reads it, and what became of the works of each report."""
        return [*ResponseRun.words(line), *map(_works_words, line["written"])]

    def _by_rule(self) -> bool:
        return self.judge.kind == JudgeKind.BASELINE

    async def made(self, case: Case, material: Material, ask: Ask) -> WrittenResponse | Answer:
        """A section from what is searched or given, with its list, its works' pages and what each step took."""
        settings, question = self._system_settings, material.item.question
        paper, log, began = OwnPaper.of(material), StepLog(ask), time.monotonic()
        seed = f"{material.item.key}/{case.trial}"
        if self._searches:
            try:
                written = await reference_system.written(
                    question, settings, self._search(paper), ask, log, seed
                )
            except SearchFailed as why:
                return Answer(Status.API_ERROR, cause=str(why))
        else:
            works = reference_system.important_works(material, settings.oracle)
            if isinstance(works, str):
                return Answer(Status.SKIPPED, cause=works)
            written = await reference_system.section_on(question, works, settings, ask, log)
        if isinstance(written, Answer):
            return written
        return self._told(written, paper, log, time.monotonic() - began)

    def _calculated(self, case: Case) -> Verdicts:
        """The same without any model: the works that share most words with the task."""
        material = self._materials.pop(case.response.id)
        paper, began, settings = OwnPaper.of(material), time.monotonic(), self._system_settings
        works: Sequence[CatalogueWork] | str = (
            self._corpus.nearest(material.item.question, settings.keep, paper)
            if self._corpus
            else reference_system.important_works(material, settings.oracle)
        )
        cause = works if isinstance(works, str) else "" if works else reference_system.NONE_FOUND
        if isinstance(works, str) or cause:
            return self.took(case, Answer(Status.SKIPPED, cause=cause))
        written = reference_system.baseline(works)
        return self.took(case, self._told(written, paper, StepLog(None), time.monotonic() - began))

    def _search(self, paper: OwnPaper) -> reference_system.Search:
        """What looks queries up; for an estimate, as many works as could be found, others for each query."""
        numbers = count()

        async def search(query: str, most: int) -> Sequence[CatalogueWork]:
            if self._foreseen:
                return self._where.most(next(numbers), most, paper)
            return await self._where.found(query, most, paper)

        return search

    def _told(
        self, written: reference_system.WrittenSection, paper: OwnPaper, log: "StepLog", seconds: float
    ) -> WrittenResponse:
        """What is kept of a section: wall time, where nothing came from the journal, and the cost of all calls."""
        fields: dict[str, Any] = {"latency_s": None if log.reused else seconds, "cost_usd": log.cost()}
        if self._searches:
            fields["cutoff"] = paper.day and paper.day - timedelta(days=1)
        section = written.section
        return WrittenResponse(
            section.text,
            {ResponsePart.REFERENCES: section.references()},
            fields,
            {"works": written.counts(), "before": str(paper.day or ""), "steps": log.steps},
            [_page(work) for work in section.works if work.abstract and not work.key.startswith("title ")],
        )


class StepLog:
    """What each step took: seconds, calls, tokens and cost, by the calls that an `Ask` has seen."""

    def __init__(self, ask: Any) -> None:
        # One that only weighs questions has seen no calls.
        self._made: list[Call] = getattr(ask, "calls", [])
        self.reused: list[Call] = getattr(ask, "reused", [])
        self.steps: list[dict[str, Any]] = []

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """A step from its beginning to its end."""
        began, made, reused = time.monotonic(), len(self._made), len(self.reused)
        yield
        calls = self._made[made:]
        told = {"step": name, "seconds": round(time.monotonic() - began, 3), "calls": len(calls)}
        told |= {"reused": len(self.reused) - reused, "cost_usd": _cost(calls)}
        for kind in ("tokens_input", "tokens_output"):
            known = [getattr(call, kind) for call in calls]
            told[kind] = None if None in known else sum(known)
        self.steps.append(told)

    def cost(self) -> float | None:
        """What all calls cost, those that brought nothing and those of an earlier session included."""
        return _cost([*self._made, *self.reused])


def _cost(calls: Sequence[Call]) -> float | None:
    """The sum; None where one is not known."""
    bills = [call.bill_usd for call in calls]
    return None if None in bills else fsum(bill or 0.0 for bill in bills)


def _page(work: CatalogueWork) -> Page:
    """Title and abstract of a work as the project keeps them, so that it can be judged without a network."""
    return Page(
        url=work.key,
        state=PageState.OK,
        text=work.abstract,
        title=work.title,
        final_url="",
        content_type="abstract",
        fetched_at=now(),
        sha256=sha256(work.abstract),
    )


def _works_words(told: dict[str, Any]) -> str:
    """What became of the works of one report."""
    works = told["works"]
    said = [f"{works[name]:,} {name}" for name in ("found", "filtered", "given") if works[name] is not None]
    odd = {
        "kept_without_verdict": "kept without a verdict", "ranked_without_verdict": "ranked by the search",
        "numbers_removed": "false numbers removed",
    }  # fmt: skip
    said += [f"{works[name]:,} {words}" for name, words in odd.items() if works[name]]
    if works["found"] is not None and not told["before"]:
        said.append("of any date, since that of the item's paper is not known")
    return f"Item {told['item']}, trial {told['trial']}: works {', '.join(said)}."
