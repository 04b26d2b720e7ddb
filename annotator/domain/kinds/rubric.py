"""Rubrics: criteria a good report must meet, each with a weight, 1 to 3 unless the project says otherwise."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pydantic import Field

from annotator.domain.kinds.artifact import (
    USUAL,
    Context,
    Document,
    Finding,
    Kind,
    KindSpec,
    Unit,
    UnitField,
    Weight,
    Weights,
    echoes,
    error,
    marked,
    near_duplicates,
    phrases,
    questions,
    warning,
    word_band,
)

# ResearcherBench, Table 10: the share of weights in the experts' 931 criteria. Their distribution is no target for
# others.
EXPERT_WEIGHT_SHARES: Mapping[int | float, float] = {1: 0.3545, 2: 0.5091, 3: 0.1364}


class Criterion(Unit):
    """A line of a rubric: met or not met by a report, with its importance."""

    weight: Weight = Field(
        default=2,
        description="Usually 3 core, 2 supporting, 1 nice to have; others where the project allows them",
    )
    insight_id: str = Field(default="", description="The key insight it was written from, if any")


class Rubric(Document[Criterion], kind=Kind.RUBRIC):
    """The criteria of one item, in order (ResearcherBench §4.1)."""


_VERB_STEMS = """
    acknowledg address advis advocat analys analyz appl argu articulat assess balanc calculat categori characteri
    cit clarif classif compar conclud connect consider contextuali contrast critiqu critici debat deconstruct defin
    demonstrat deriv describ detail determin differentiat discern discuss distinguish elaborat elucidat emphasi
    enumerat establish estimat evaluat examin exemplif explain explor formulat giv highlight hypothesi identif
    illustrat includ incorporat indicat infer integrat interpret introduc investigat justif link list map mention
    motivat nam not offer outlin point pos predict present prioriti propos prov provid quantif question quot rank
    reason recogni recommend reconcil refer referenc reflect relat report review say set show specif stat suggest
    summari support survey synthesi tell trac uncover understand use verif warn weigh
"""
# A stem, then any ending of the present tense: identif-y, identif-ies, emphasi-ze, analyz-es, discuss-es, explain.
_VERB = re.compile(rf"(?:{'|'.join(_VERB_STEMS.split())})(?:[sz]es?|ies|es|[sey])?", re.IGNORECASE)
_OPENING = re.compile(
    r"\W*(?:(?:the )?(?:report|response|answer) )?(?:(?!repl|appl)[a-z]+ly )?([a-z-]+)", re.IGNORECASE
)
_REPORTING = (
    "explains?|describes?|discuss(?:es)?|outlines?|analy[sz]es?|compares?|contrasts?|evaluates?|assess(?:es)?"
)
_SECOND_VERB = re.compile(
    rf"^\W*(?:\w+ly )?(?:{_REPORTING})(?!,? (?:and|or) (?:{_REPORTING}))\b.{{12,}}?"
    rf"(?:,|;|\band|\bor|\bwhile)\s+(?:also )?(?P<second>{_REPORTING})\b",
    re.IGNORECASE | re.DOTALL,
)
_JOINED = re.compile(r"\band/or\b|;\s|\bas well as\b", re.IGNORECASE)
_TWO_SENTENCES = re.compile(r"[a-z]{3}[.)]?\.\s+[A-Z][a-z]")
# Four things or more, outside brackets.
_LONG_LIST = re.compile(r"(?:[^,()]{2,40}, ){3,}(?:and|or) ")
_VAGUE = (
    "good|nice|interesting|various|several",
    "(?<!how )many|appropriately|adequately|properly|sufficiently|reasonably|thoroughly",
    "meaningfully|insightful|originality|satisfactory|high-level|etc",
    r"in[- ]depth",
    "(?:comprehensive|thorough|detailed|deep|clear|strong|useful|appropriate|adequate|proper|sufficient) "
    "(?:overview|analysis|discussion|explanation|description|summary|understanding|coverage|review|answer|treatment)",
)
_OPTIONAL = ("ideally", "preferably", "hopefully", "if possible", "where appropriate", "nice to have")
_SURFACE = (
    r"readab\w+",
    "grammar",
    "grammatical(?:ly)?",
    "spelling",
    "typos?",
    "page layout",
    "formatting,? (?:and|of the)",
    "well[- ](?:structured|organi[sz]ed|written|formatted)",
    r"(?:clear|clearly|logically) (?:structured|written|organi[sz]ed|headings?)",
    "writing (?:style|quality)",
    "bullet points?",
    "headings",
    "easy to (?:read|follow)",
    r"concise(?:ly)? (?:written|style|language|wording)",
    "table of contents",
    "professional tone",
    "citation (?:style|format)",
)
# A word with a second capital or a digit (MoE, FP8), or capitalised words (Reward Modeling).
_NAME = r"(?<![\w.+-])(?:(?=[A-Z][a-z.+-]*+[A-Z0-9])[A-Z][\w.+-]*+|[A-Z][a-z]++(?:[ ][A-Z][a-z]++)*)"
_NAMES = re.compile(rf"(?:(?:{_NAME}), (?:and |or |& )?){{2,}}(?:(?:and |or |& )?(?:{_NAME})|etc)")
_EXAMPLES = r"e\.?g|such as|like|for example|for instance|at least|any of|one of"
_LOOSE = "or|etc"
WORDS = (4, 40)


def findings(rubric: Rubric, context: Context) -> Iterator[Finding]:
    """Every finding on a rubric (ResearcherBench, appendices C.1.2 and G.5)."""
    units = [unit for unit in rubric.units if unit.text.strip()]
    if context.english:
        for unit in units:
            yield from _opening(unit)
            yield from _claims(unit)
            yield from _rigid(unit)
        yield from marked(
            "vague",
            phrases(*_VAGUE),
            units,
            "“{found}” can be read in many ways.",
            "Name what must be in the report.",
        )
        yield from marked(
            "optional",
            phrases(*_OPTIONAL),
            units,
            "“{found}” is optional wording.",
            "State what must be met, and lower the weight.",
        )
        yield from marked(
            "surface",
            phrases(*_SURFACE),
            units,
            "“{found}” is about form, not content.",
            "Ask for an insight of the answer.",
        )
    for unit in units:
        yield from word_band(unit, *WORDS, norm="a criterion that can be checked has")
    yield from questions(units, "State what a good report does.")
    yield from near_duplicates(units, "criterion")
    yield from echoes(units, context.question)
    if context.weights.usual:
        shares, n = weight_shares(rubric), len(rubric.units)
        if n >= 3 and not shares.get(3, 1):
            yield warning(
                "no-core",
                "No criterion has weight 3.",
                "Give weight 3 to what every good answer needs.",
                field="weight",
            )
    for unit in not_allowed(rubric, context.weights):
        yield error(
            "weight-outside",
            f"Weight {unit.weight} is not allowed in this project.",
            f"Choose one of {context.weights.text}.",
            unit.id,
            "weight",
        )


def _opening(unit: Criterion) -> Iterator[Finding]:
    result = _OPENING.match(unit.text)
    if not (result and _VERB.fullmatch(result[1])):
        yield warning(
            "opening-verb",
            "The criterion does not open with what the report does.",
            "Start with a verb: explains, describes, discusses, compares, identifies …",
            unit.id,
        )


def _claims(unit: Criterion) -> Iterator[Finding]:
    message = ""
    if joint := _SECOND_VERB.search(unit.text) or _JOINED.search(unit.text):
        message = f"“{joint[joint.lastgroup or 0].strip()}” seems to join two claims."
    elif _TWO_SENTENCES.search(unit.text):
        message = "Two sentences are often two claims."
    elif _long_list(unit.text):
        message = "A list of four or more asks for many things at once."
    if message:
        advice = "Make each a criterion of its own, so that each can be met alone."
        yield warning("several-claims", message, advice, unit.id)


def _long_list(text: str) -> bool:
    """Whether four things or more are asked for, other than as examples."""
    result = _LONG_LIST.search(text) if text.count(",") > 2 else None
    return bool(result and not phrases(_EXAMPLES).search(text, 0, result.end()))


def _rigid(unit: Criterion) -> Iterator[Finding]:
    result = _NAMES.search(unit.text)
    if (
        result
        and not phrases(_LOOSE).search(result.group())
        and not phrases(_EXAMPLES).search(unit.text, 0, result.start())
    ):
        yield warning(
            "rigid-list",
            "A report must name every one of these to pass.",
            "Ask for the idea, and give the names as examples (e.g., …).",
            unit.id,
        )


def not_allowed(rubric: Rubric, weights: Weights) -> list[Criterion]:
    return [unit for unit in rubric.units if unit.weight not in weights.values]


def counted_weights(rubrics: Iterable[Rubric]) -> dict[int | float, int]:
    """The number of criteria of each weight: 1, 2 and 3, or those in use if there are others."""
    counted = Counter[int | float](unit.weight for rubric in rubrics for unit in rubric.units)
    shown = USUAL.values if counted.keys() <= set(USUAL.values) else sorted(counted)
    return {weight: counted[weight] for weight in shown}


def weight_shares(rubric: Rubric) -> dict[int | float, float]:
    """The share of each weight, 1 to 3 or those in use; empty if there are no criteria."""
    counted = counted_weights([rubric])
    return {weight: many / len(rubric.units) for weight, many in counted.items()} if rubric.units else {}


def _summary(_: Rubric, _bar: float) -> str:
    return "weights"


def _weighed(spec: KindSpec, weights: Weights) -> KindSpec:
    if weights.usual:
        return spec
    fields = (
        replace(field, options=weights.options) if field.name == "weight" else field for field in spec.fields
    )
    what = f"A rubric lists the criteria that a good report meets, each with a weight: {weights.text}."
    return replace(spec, fields=tuple(fields), what=what, summary=lambda *_: f"weights {weights.text}")


SPEC = KindSpec(
    Rubric,
    title="Rubric",
    unit="criterion",
    units="criteria",
    what="A rubric lists the criteria that a good report meets, each weighted 1 (nice to have), 2 (supporting) "
    "or 3 (core).",
    prompt="One claim that a report meets or does not: explains …, compares …, identifies …",
    table="criteria",
    fields=(
        UnitField(
            "weight",
            "Weight",
            USUAL.options,
            level="ordinal",
        ),
        UnitField("insight_id", "Key insight", shown=False, counted=False),
    ),
    lint=findings,
    summary=_summary,
    made_of=("insight_id", Kind.INSIGHTS),
    weighed=_weighed,
)
