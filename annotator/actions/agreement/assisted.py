"""Pairings by a judge beside frozen agreement: stored once, and reported as a second figure."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from annotator.actions.authoring import comparing
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.domain.experts.agreement import Agreement, AssistedPair, PairAgreement
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import derived_id
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.protocols.pairing import PROMPTS
from annotator.storage.tables import ASSISTED

if TYPE_CHECKING:
    from annotator.exchange.release.pair_records import AgreementRecord

PREFIX = "assisted_"
# So much of a hash tells one prompt from another.
SHOWN_OF_HASH = 12
# Under which id it is kept → the agreement, and the pair of raters whose lists are paired.
Lists = dict[str, tuple[Agreement, PairAgreement]]


@dataclass(frozen=True, slots=True)
class Assistance:
    """The number of pairs of lists with a judge's reply; `records` are the agreements under its pairing.

    They hold the pairs of raters that there is a reply of, and no others.
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
        """How much it is, in a sentence or two."""
        if not self.lists:
            return "No lists here are matched by words, so there is nothing to pair by meaning."
        left = self.lists - self.there
        rest = f" Without a reply: {left:,}, excluded, never counted as no match."
        said = f"“{self.judge}” has paired {self.there:,} of {counted(self.lists, 'pair')} of lists"
        return f"{said} ({self.title}).{rest if left else ''}"

    def tree(self) -> dict[str, Any]:
        names = ("judge", "model", "parameters", "prompt_sha256", "lists", "there")
        return {name: getattr(self, name) for name in names}


def _title(model: str, parameters: str, prompt_sha256: str) -> str:
    settings = f" {parameters}" if parameters != "{}" else ""
    return f"model-assisted: {model}{settings}, prompt {prompt_sha256[:SHOWN_OF_HASH]}"


def settings_of(judge: Judge) -> str:
    return canonical_json(json.loads(judge.parameters or "{}")).decode()


def asked_judge(project: Project, name: str) -> Judge:
    """The judge of that name; Refusal for one that asks no model."""
    judge = judges.named(project, name)
    if judge.kind != JudgeKind.ENDPOINT:
        raise Refusal(
            f"“{name}” calls no model and cannot pair by meaning.", "Name a judge with an endpoint."
        )
    return judge


def offered(project: Project) -> list[tuple[str, int]]:
    """Judges that may be asked, and how many pairs of lists each has paired, most first."""
    question = select(ASSISTED.c.judge_id, func.count()).group_by(ASSISTED.c.judge_id)
    with project.store.read() as db:
        there: dict[str, int] = dict(db.execute(question).all())
    found = [
        (one.name, there.get(one.id, 0)) for one in judges.all_of(project) if one.kind == JudgeKind.ENDPOINT
    ]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def prompt_sha256(project: Project) -> str:
    return run_records.prompts_hash(project, PROMPTS)


def lists(judge: Judge, found: Iterable[Agreement], prompt: str) -> Lists:
    """Every pair of lists whose units are matched by their words, under the id that it has for this judge as it is.

    `prompt` is the hash of what it is asked by.
    """
    asked_by = (judge.id, judge.model, settings_of(judge), prompt)
    return {
        derived_id("assisted pair", agreement.id, pair.a, pair.b, *asked_by): (agreement, pair)
        for agreement in found
        if comparing.by_words(agreement.stage.kind)
        for pair in agreement.pairs
    }


def assistance(project: Project, found: Iterable[Agreement], name: str) -> Assistance:
    """What the judge of that name has paired of these agreements, as it is and is asked now."""
    judge = asked_judge(project, name)
    asked = (judge.model, settings_of(judge), prompt_sha256(project))
    wanted = lists(judge, found, asked[-1])
    agreements = {agreement.id: agreement for agreement, _ in wanted.values()}
    with project.store.read() as db:
        there = [one for one in stored(db, agreements) if one.id in wanted]
    return Assistance(judge.name, *asked, len(wanted), len(there), _by_meaning(agreements, there))


def ways(
    found: Sequence["AgreementRecord"], judge_names: Mapping[str, str]
) -> list[tuple[str, list[Agreement]]]:
    """What agreements are by each way in which a judge paired them, with its title; none where none did.

    Two judges whose titles are the same are broken down by their names.
    """
    agreements = {one.id: one.frozen() for one in found}
    by: dict[tuple[str, str], list[AssistedPair]] = {}
    for one in (each for record in found for each in record.assisted):
        by.setdefault((_title(one.model, one.parameters, one.prompt_sha256), one.judge_id), []).append(one)
    judges_of = Counter(called for called, _ in by)
    return [
        (
            called if judges_of[called] == 1 else f"{called}, judge “{judge_names[judge_id]}”",
            list(_by_meaning(agreements, pairs)),
        )
        for (called, judge_id), pairs in sorted(by.items())
    ]


def _by_meaning(agreements: Mapping[str, Agreement], found: Iterable[AssistedPair]) -> tuple[Agreement, ...]:
    """The agreements with the units as a judge paired them, to be pooled beside the frozen ones."""
    pairs: dict[str, list[PairAgreement]] = {}
    for one in found:
        plain = [each.model_copy(update={"name": each.name.removeprefix(PREFIX)}) for each in one.figures]
        pairs.setdefault(one.agreement_id, []).append(one.model_copy(update={"figures": tuple(plain)}))
    return tuple(
        agreement.model_copy(update={"pairs": tuple(pairs[of]), "figures": ()})
        for of, agreement in agreements.items()
        if of in pairs
    )


def stored(db: Connection, agreements: Collection[str]) -> list[AssistedPair]:
    rows = db.execute(select(ASSISTED.c.agreement_id, ASSISTED.c.content).order_by(ASSISTED.c.id))
    return [
        AssistedPair.model_validate(json.loads(row.content)) for row in rows if row.agreement_id in agreements
    ]


def row(one: AssistedPair) -> dict[str, Any]:
    content = canonical_json(one.model_dump(mode="json"))
    named = {"id": one.id, "agreement_id": one.agreement_id, "judge_id": one.judge_id}
    return {**named, "content": content.decode(), "sha256": sha256(content)}
