"""Twelve made works, the paper for which they are searched, and a model whose every answer is known beforehand."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer
from annotator.domain.material.item import CatalogueWork
from annotator.judging.messages import load, render

PAPER, PUBLISHED = "2506.00001v1", "2025-06-03"
QUESTION = (
    "Towns in summer: write the related-work section of this paper, given its abstract."
    "\n\nAbstract: Oaks give shade."
)
QUERIES = (("shade", "heat"), ("water", "canopy"))
# Each query stands in the abstracts of these, by number; the tenth is too young, the eleventh is the paper itself.
HOLDING = {"shade": (1, 2, 3, 4, 10, 11), "heat": (4, 5, 6, 11), "water": (7, 8), "canopy": (8, 9)}
NAMES = (
    "oak",
    "elm",
    "ash",
    "lime",
    "asphalt",
    "walls",
    "roots",
    "sap",
    "leaves",
    "plane",
    "towns",
    "quakes",
)


def _made(number: int) -> CatalogueWork:
    words = [word for word, numbers in HOLDING.items() if number in numbers]
    return CatalogueWork(
        identifier=f"arXiv:{PAPER}" if number == 11 else f"arXiv:2401.{number:05d}",
        title=f"On {NAMES[number - 1]}",
        abstract=f"Results about {' and '.join(words) or 'tremors'}. More follows.",
        published="2025-07-01" if number == 10 else "2024-01-05",
        authors="A. Mo",
    )


WORKS = tuple(map(_made, range(1, 13)))
FOUND = {1, 2, 3, 4, 5, 6, 7, 8, 9}
IRRELEVANT = {3, 6, 7, 9}
LEFT = FOUND - IRRELEVANT
# The best first.
PREFERRED = (8, 1, 5, 2, 4)
WRITTEN = "## Related work\n\nShade helps [1], as [2, 9] say. Walls [3] store $x[4]$ heat [77]."


def number_of(text: str) -> int:
    names = re.findall(r"On (\w+)", text)
    return NAMES.index(names[0]) + 1 if names else 0


def answered(prompt: str, fields: Mapping[str, str]) -> Any:
    """What the model says: a reply in JSON, or a text."""
    match prompt.rpartition(".")[2]:
        case "queries":
            asked = [query for query in QUERIES[0] if query in fields["asked"]]
            return {"queries": list(QUERIES[1 if asked else 0])}
        case "filter":
            word = "no" if number_of(fields["title"]) in IRRELEVANT else "yes"
            return {"rationale": "So.", "relevant": word}
        case "compare":
            first, second = (PREFERRED.index(number_of(fields[side])) for side in ("first", "second"))
            return {"rationale": "So.", "better": "first" if first < second else "second"}
        case "section":
            return WRITTEN
        case _:
            return "Shade is known [1]."


class KnowingAsk:
    """An ask that answers by `answered`, but for what `odd` has an answer of its own to; it keeps what it was asked."""

    def __init__(self, odd: Callable[[str, Mapping[str, str], int], Answer | None] = lambda *_: None) -> None:
        self.odd, self.asked = odd, list[tuple[str, dict[str, str]]]()

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: Any, fenced: tuple[str, ...] = ()
    ) -> Answer:
        render(load(prompt), fields, fenced, "f00d")
        own = self.odd(prompt, fields, self.count(prompt))
        self.asked.append((prompt.rpartition(".")[2], dict(fields)))
        said = answered(prompt, fields)
        return own or Answer(
            Status.OK, reply.model_validate(said if isinstance(said, dict) else {"text": said})
        )

    def count(self, step: str) -> int:
        return sum(name == step.rpartition(".")[2] for name, _ in self.asked)


def in_words(said: Any) -> str:
    return said if isinstance(said, str) else json.dumps(said)
