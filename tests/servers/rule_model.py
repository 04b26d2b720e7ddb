"""A model on loopback that goes by rules: what a prompt asks for and the texts in it decide every reply."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from annotator.domain.kinds.tasks import Family
from annotator.judging.messages import load
from annotator.places import resources
from tests.judging.odd_server import Odd, OddServer, at_work, completion

# The wording of a task of each of these families, about the first sentence of a lead.
TASKS = {
    "en": {
        Family.SURVEY: "{}: survey what was published on this since 2010, and deliver a table of sources and gaps.",
        Family.SCAN: "Find the trend behind this remark: {}. Count what was built each year, and deliver a chart.",
        Family.BLUEPRINT: "Design an experiment with controls. It tests this: {}. Deliver its protocol, step by step.",
        Family.METRIC: "Define one measure by which to tell success, and deliver its formula. It concerns: {}.",
        Family.COMPARISON: "Compare three ways to deal with this, by cost and reach: {}. Deliver a matrix of them.",
    },
    "zh": {
        Family.SURVEY: "{}。综述2010年以来发表的相关文献，并提交一张来源与空白的表格。",
        Family.SCAN: "找出这句话背后的趋势：{}。统计每年建成的数量，并提交一幅图表。",
        Family.BLUEPRINT: "设计一个有对照的实验，检验下面的说法：{}。请逐步写出方案并提交一份规程。",
        Family.METRIC: "定义一个衡量成功的指标，并提交它的公式与说明文件。它涉及：{}。",
        Family.COMPARISON: "按照成本和覆盖面比较三种做法，并提交一份对比矩阵。问题是：{}。",
    },
}
MORE = {
    "en": "Nobody has measured it. It matters to whoever lives there. One could begin with public data.",
    "zh": "还没有人测量过。这对当地居民很重要。可以从公开数据开始。",
}
WORDS = re.compile(r"[a-z]{4,}|[\u4e00-\u9fff]{2}")
Given = Mapping[str, str]


def language(text: str) -> str:
    return "zh" if re.search(r"[\u4e00-\u9fff]", text) else "en"


def words(text: str) -> set[str]:
    return set(WORDS.findall(text.lower()))


def sentences(text: str) -> list[str]:
    return [one.strip() for one in re.split(r"(?<=[.。])\s*|\n", text) if one.strip()]


def inspirations(given: Given) -> Any:
    """A lead for every remark that calls something unsolved or new."""
    result = []
    for turn in given["transcript"].splitlines():
        said = turn.rpartition(": ")[2].strip()
        open_ = "unsolved" in said or "未解决" in said
        if open_ or "propose" in said or "提出" in said:
            kind = "limitation" if open_ else "methodology"
            qualities = ["challenge" if open_ else "novelty", "explorability"]
            text = f"{said} {MORE[language(said)]}"
            result.append({"quotes": [said], "text": text, "type": kind, "qualities": qualities})
    return {"inspirations": result}


def tasks(given: Given) -> Any:
    leads = re.findall(r"^(i\d+) \(\w+\): (.+)$", given["inspirations"], re.MULTILINE)
    made = []
    for number, family in enumerate(TASKS["en"]):
        name, lead = leads[number % len(leads)]
        words_of = TASKS[language(lead)][family].format(re.split("[.。]", lead)[0])
        made.append(
            {
                "inspirations": [name], "phase": family.phase, "family": family,
                "difficulty": "advanced" if number % 2 else "basic", "task": words_of,
            }
        )  # fmt: skip
    return {"tasks": made}


def ranking(given: Given) -> Any:
    """The shorter task is the better one."""
    first = len(given["first"]) <= len(given["second"])
    best, worst = dict.fromkeys(SCORES, 5), dict.fromkeys(SCORES, 3)
    scores = {"first": best, "second": worst} if first else {"first": worst, "second": best}
    return {**scores, "reason": "By length.", "better": "first" if first else "second", "confidence": 0.8}


SCORES = ("clarity", "actionability", "novelty", "depth_fit", "consistency")


def checklist(given: Given) -> Any:
    points = [
        ("Sources", "Names its sources", 0.5),
        ("Table", "Has a table", 0.3),
        ("Years", "Covers 2010", 0.2),
    ]
    return {"points": [dict(zip(("title", "description", "weight"), point, strict=True)) for point in points]}


def keypoints(given: Given) -> Any:
    return {"points": [{"spans": [sentence], "text": sentence} for sentence in sentences(given["page"])]}


def related(point: str, report: str) -> str:
    """Omitted where the report lacks most of its words; else contradicted where the report denies, or supported."""
    of = words(report)
    if len(words(point) & of) < 0.6 * len(words(point)):
        return "omits"
    return "contradicts" if {"denies", "否认"} & of else "supports"


def relation(given: Given) -> Any:
    said = related(given["point"], given["report"])
    return {"quote": "", "rationale": "By words.", "aspects": [], "relation": said, "confidence": 0.9}


def rating(report: str) -> int:
    return min(10, len(report) // 50)


ADDRESS = {"en": "https://a.example/zones", "zh": "https://b.example/phones"}
RELATED = (
    "# Related work\n\nWaves travel far and early [1].\n\n## References\n\n[1] Waves. arXiv:2001.00001\n"
)


def report(given: Given) -> str:
    """What the task says, with a page on it; a model called hasty denies it. On a paper always the same section."""
    task = given["question"]
    if re.search("Trees cool|Quakes are", task):
        return RELATED
    of = language(task)
    denial = {"en": "This denies it: ", "zh": "本文否认如下说法："}[of] if given["model"] == "hasty" else ""
    table = "" if denial else "| Source | Year |\n|---|---|\n| One | 2010 |\n\n"
    return f"# Report\n\n{denial}{task} [1]\n\n{table}## References\n\n[1] {ADDRESS[of]}\n"


def continuation(given: Given) -> str:
    """What is left of the task; a model called hasty does not know it."""
    return "And so on." if given["model"] == "hasty" else REST.get(given["prefix"], "And so forth.")


# What comes after the beginnings of texts, for a model that has seen them.
REST: dict[str, str] = {}


def support(text: str, report: str) -> str:
    return "support" if words(text) <= words(report) else "not_support"


def named_ones(given: Given, pattern: str) -> list[tuple[str, str]]:
    return re.findall(pattern, given["nuggets"], re.MULTILINE)


def cited(given: Given) -> Any:
    """Yes where a longer word of the sentence is in what it cites."""
    sources = given.get("source", "") + given.get("sources", "")
    said = "yes" if words(given["sentence"]) & words(sources) else "no"
    return {"quote": "", "rationale": "By words.", "supported": said}


RULES: dict[str, Callable[[Given], Any]] = {
    "arena.inspirations": inspirations,
    "arena.tasks": tasks,
    "arena.ranking": ranking,
    "arena.checklist.make": checklist,
    "arena.keypoints.extract": keypoints,
    "arena.keypoints": relation,
    "respond.report": report,
    "respond.continuation": continuation,
    "arena.checklist": lambda given: {
        "quote": "", "rationale": "By length.", "rating": rating(given["report"]),
    },
    "deepscholar.nuggets.make": lambda given: {"nuggets": sentences(given["documents"])},
    "deepscholar.nuggets.weigh": lambda given: {
        "answers": [{"id": name, "importance": "vital"} for name, _ in named_ones(given, r"^(n\d+): (.+)$")]
    },
    "deepscholar.nuggets.together": lambda given: {
        "answers": [
            {"id": name, "quote": "", "rationale": "By words.", "support": support(text, given["report"])}
            for name, text in named_ones(given, r"^id: (.+)\n(.+)$")
        ]
    },
    "deepscholar.nuggets": lambda given: {
        "quote": "", "rationale": "By words.", "support": support(given["nugget"], given["report"]),
    },
    "deepscholar.organization": lambda given: {
        "rationale": "By length.", "better": "first" if len(given["first"]) > len(given["second"]) else "second",
    },
    "deepscholar.relevance": lambda given: {
        "rationale": "By title.", "relevance": "2" if words(given["title"]) & {"oaks", "waves"} else "0",
    },
    "deepscholar.precision": cited,
    "deepscholar.coverage": cited,
    "deepscholar.nugget_importance": lambda _: {"rationale": "As ever.", "importance": "vital"},
    "deepscholar.reference_importance": lambda given: {
        "rationale": "By title.",
        "importance": "important" if words(given["title"]) & {"oaks", "waves"} else "not_important",
    },
}  # fmt: skip


_FENCE = re.compile(r"^<<<(?:BEGIN|END) \w+ \w+>>>$", re.MULTILINE)


@cache
def _shapes() -> dict[str, tuple[str, re.Pattern[str]]]:
    """Each prompt's first words, and a pattern that reads out of its user part what it was filled with."""
    result = {}
    for path in sorted((resources() / "prompts").glob("*.md")):
        prompt = load(path.stem)
        parts = re.split(r"\{\{(\w+)\}\}", prompt.user)
        pattern = "".join(
            f"(?P<{one}>.*)" if number % 2 else re.escape(one) for number, one in enumerate(parts)
        )
        result[path.stem] = (prompt.system[:300], re.compile(pattern, re.DOTALL))
    return result


def asked(body: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """The name of the prompt of a request, and what it was filled with."""
    system, user = (one["content"] for one in body["messages"][:2])
    for name, (begins, pattern) in _shapes().items():
        if system.startswith(begins) and (match := pattern.match(user)):
            return name, {what: _FENCE.sub("", text).strip() for what, text in match.groupdict().items()}
    raise AssertionError(system[:200])


def answer(body: dict[str, Any], number: int) -> Odd:
    name, given = asked(body)
    said = RULES[name](given | {"model": body["model"]})
    return completion(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))


@contextmanager
def going_by_rules() -> Iterator[OddServer]:
    with at_work(OddServer()) as server:
        server.answer = answer
        yield server
