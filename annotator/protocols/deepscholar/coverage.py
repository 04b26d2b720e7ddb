"""Claim coverage: how many sentences of a report its sources fully support, including those of nearby sentences.

DeepScholar-Bench: claim coverage, §8.3.3; the window, §8.4.2 and Figure 5; the judge's question, Box 3.
"""

from collections.abc import Iterator, Mapping, Sequence

from annotator.domain.judges.judge import YES, Status, Verdict, is_yes
from annotator.domain.judges.protocol import (
    Aim,
    Ask,
    Case,
    Material,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Verdicts,
)
from annotator.domain.kinds.artifact import Unit, cell_id
from annotator.domain.material.extract import ResponsePart, Sentence
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.deepscholar.precision import (
    NO_TEXT,
    Entailed,
    body,
    by_words,
    scale,
    source_of,
    unknown,
    verdict_of,
)
from annotator.protocols.several import mean_of_known

NAME = "deepscholar.coverage"
METHOD = "mean over sentences of max e(s, i), |i − s| ≤ w"
RELEASED = "mean over longer sentences of e(s, s), 0 where none is cited"
# The paper's own window; the widest of its Figure 5 is 5.
WINDOW = 1
# In characters without its marks: the public code skips shorter sentences.
LEAST_RELEASED = 50
NONE_CITED = "(None: the sentence must follow from the task alone.)"
NOT_NEEDED = "Nearer sources bear the sentence out already."
PART_LACKING = (
    "It does not follow from the sources at hand, and title and abstract of others are not in this project."
)
CONTEXT = "context"
DEPARTURES = (
    "The sources of one sentence are taken together with the task; those of two sentences are not put together. The "
    "paper leaves this open.",
    "A sentence that cites nothing is first asked about with the task alone, then with the sources of the sentences "
    "around it. The public code gives it 0 unasked.",
    "The public code reads the sentence's own marks at every place of the window, so that a wider one adds tries, but "
    "no sources.",
    "The sentence is asked about without its marks, by a prompt of its own: everything it says must follow.",
    "A source whose title and abstract are not at hand leaves a “no” open, and bounds the figure.",
    "The section that people wrote is not judged, as in the paper's geometric mean.",
)
DEFINITION = """\
$$Cov_w = \\frac{1}{n} \\sum_{s} e_w(s)$$

Of the n sentences of the report's body, the share that is borne out in full (§8.3.3). e_w(s) is the largest e(s, i) of
the sentences i that are at most w away; e(s, i) is 1 when everything that sentence s says follows from the works cited
in sentence i together with title and abstract of the paper, or from these alone where s cites nothing. The window w is
1, as in the paper's tables. Undefined without a sentence, and while its sentences are not drawn. With judgements
missing that could decide on a sentence it is over the others, and the range is given in which it must lie.
"""
AS_RELEASED = f"""\
Of the sentences of {LEAST_RELEASED} characters and more, the share that follows from the sentence's own sources and
title and abstract of the paper; 0 for each that cites nothing (as the public code counts). Undefined without such a
sentence.
"""


class SentenceAtPlace(Unit):
    """A sentence with the sources that another one cites, or its own; `text` names them, for people."""

    sentence: str = ""
    sources: str = ""
    complete: bool = True


def places(sentences: Sequence[Sentence], at: int, window: int) -> Iterator[tuple[int, int | None]]:
    """(distance, index) of the sentences whose sources are asked about, nearest first; index None for the
    task alone.
    """
    yield 0, at if sentences[at].cites else None
    for distance in range(1, window + 1):
        for place in (at - distance, at + distance):
            if 0 <= place < len(sentences) and sentences[place].cites:
                yield distance, place


def unit_id(sentences: Sequence[Sentence], at: int, place: int | None) -> str:
    """The id of a sentence paired with the sources of the one at `place`."""
    return cell_id(sentences[at].id, CONTEXT if place is None else sentences[place].id)


def borne_out(sentences: Sequence[Sentence], values: Mapping[str, str], window: int) -> list[bool | None]:
    """For each sentence, whether some sources in the window support it; None if that is open."""
    result: list[bool | None] = []
    for at in range(len(sentences)):
        verdicts = [
            is_yes(values.get(unit_id(sentences, at, place))) for _, place in places(sentences, at, window)
        ]
        result.append(True if True in verdicts else None if None in verdicts else False)
    return result


def coverage(scored: RatedResponse, over_valid: bool = False, window: int = WINDOW) -> Estimate:
    """Cov_w of one report by one rater's verdicts; `n` counts the sentences with a known result."""
    if why := unknown(scored.material):
        return Estimate(None, method=METHOD, note=why)
    return _share(borne_out(body(scored.material), scored.values, window), over_valid)


def as_released(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """The share as the public code counts it, over the same verdicts."""
    if why := unknown(scored.material):
        return Estimate(None, method=RELEASED, note=why)
    sentences = body(scored.material)
    own = borne_out(sentences, scored.values, 0)
    long = [
        one if sentence.cites else False
        for sentence, one in zip(sentences, own, strict=True)
        if len(sentence.text) >= LEAST_RELEASED
    ]
    if not long:
        return Estimate(None, method=RELEASED, note=f"no sentence has {LEAST_RELEASED} characters")
    return _share(long, over_valid, RELEASED)


def _share(verdicts: Sequence[bool | None], over_valid: bool, method: str = METHOD) -> Estimate:
    known = [one for one in verdicts if one is not None]
    return mean_of_known(
        sum(known), len(known), len(verdicts) - len(known), over_valid, "sentences are open", method
    )


def cases(material: Material) -> Iterator[Case]:
    """One case for each sentence, with a unit for each place of the window that cites something, nearest first."""
    sentences = body(material)
    for at in range(len(sentences)):
        around = [place for _, place in places(sentences, at, material.window)]
        units = [_unit(material, sentences, at, place) for place in around]
        shown = "\n\n".join(
            f"{_where(at, place).capitalize()}:\n\n{unit.sources}"
            for place, unit in zip(around, units, strict=True)
        )
        yield material.case(NAME, ResponsePart.SENTENCES, *units, given={"page": shown})


def _unit(material: Material, sentences: Sequence[Sentence], at: int, place: int | None) -> SentenceAtPlace:
    cited = () if place is None else sentences[place].cites
    texts = [source_of(material, source) for source in cited]
    return SentenceAtPlace(
        id=unit_id(sentences, at, place),
        text=f"{sentences[at].text} [{_where(at, place)}]",
        sentence=sentences[at].text,
        sources="\n\n".join(filter(None, texts)),
        complete=all(texts),
    )


def _where(at: int, place: int | None) -> str:
    if place is None:
        return "title and abstract of the paper alone"
    if place == at:
        return "its own sources"
    many, side = abs(place - at), "before" if place < at else "after"
    return f"sources of the sentence {side} it" if many == 1 else f"sources {many:,} sentences {side} it"


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Show the sentence, the task and the sources of one place after another, until some support the sentence."""
    verdicts: dict[str, Verdict] = {}
    for unit in case.units:
        if any(verdict.value == YES for verdict in verdicts.values()):
            verdicts[unit.id] = Verdict(status=Status.NOT_NEEDED, cause=NOT_NEEDED)
        else:
            verdicts[unit.id] = await _verdict_of(case, unit, ask)
    return verdicts


async def _verdict_of(case: Case, unit: Unit, ask: Ask) -> Verdict:
    place = _at_place(unit)
    if not place.sources and not place.complete:
        return Verdict(status=Status.SKIPPED, cause=NO_TEXT)
    fields = {
        "question": case.item.question,
        "sentence": place.sentence,
        "sources": place.sources or NONE_CITED,
    }
    answer = await ask(NAME, fields, Entailed, fenced=("question", "sentence", "sources"))
    if answer.status is not Status.OK:
        return answer.verdict()
    return _settled(place, verdict_of(answer.reply, f"{place.sources}\n\n{case.item.question}", answer.flags))


def _at_place(unit: Unit) -> SentenceAtPlace:
    if not isinstance(unit, SentenceAtPlace):
        raise TypeError("a sentence comes with its sources")
    return unit


def _settled(place: SentenceAtPlace, verdict: Verdict) -> Verdict:
    """The verdict; a “no” from part of the sources alone becomes unclear."""
    if verdict.value == YES or place.complete:
        return verdict
    return Verdict(status=Status.UNCLEAR, cause=PART_LACKING, rationale=verdict.rationale)


# No network: the share of the sentence's terms that its sources and the task hold; not fitted to anything.
BASELINE_SHARE = 0.6


def baseline(case: Case) -> Verdicts:
    """Supported if the sources of a place and the task have enough of the sentence's terms, the nearest place first."""
    verdicts: dict[str, Verdict] = {}
    for place in map(_at_place, case.units):
        if any(verdict.value == YES for verdict in verdicts.values()):
            why = "baseline: nearer sources have enough of its terms"
            verdicts[place.id] = Verdict(status=Status.NOT_NEEDED, cause=NOT_NEEDED, rationale=why)
        elif not place.sources and not place.complete:
            verdicts[place.id] = Verdict(status=Status.SKIPPED, cause=NO_TEXT)
        else:
            given = f"{place.sources}\n\n{case.item.question}"
            verdicts[place.id] = _settled(place, by_words(place.sentence, given, BASELINE_SHARE))
    return verdicts


_PARTS = (ResponsePart.SENTENCES,)
COVERAGE = Protocol(
    name=NAME,
    title="Sentences that their sources bear out",
    citation="DeepScholar-Bench, §8.3.3, §8.4.2 and Box 3",
    needs=(),
    parts=_PARTS,
    metrics=(
        Metric("claim_coverage", "Claim coverage", DEFINITION, coverage, parts=_PARTS, by_window=coverage),
        Metric(
            "claim_coverage.released", "Claim coverage (as released)", AS_RELEASED, as_released, parts=_PARTS
        ),
    ),
    scale=scale(),
    presentation=Presentation(
        "Claims covered",
        "Does everything a sentence says follow from the sources? (DeepScholar-Bench)",
        "place",
        "places",
        heading="Does it follow from the sources?",
        read="sources",
        waits="a source's abstract was never fetched",
        lacking=("No sentences yet", "A report can be labelled once its sentences are drawn."),
    ),
    cases=cases,
    judge=judge,
    baseline=baseline,
    prompts=(NAME,),
    aims=(Aim("accuracy", 0.80, "Table 3", "GPT-4o"),),
    departures=DEPARTURES,
    stops=True,
)
