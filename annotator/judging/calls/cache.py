"""Cache keys: what makes two calls the same, and the interface to stored calls."""

from collections.abc import Container, Mapping, Sequence
from typing import Any, Protocol

from annotator.domain.judges.judge import Call
from annotator.domain.judges.protocol import Case
from annotator.domain.texts.canonical import canonical_json, sha256

Key = tuple[str, str, int]


def cache_key(
    endpoint: str,
    model: str,
    params: Mapping[str, Any],
    prompt_sha256: str,
    messages: Sequence[Mapping[str, str]],
    schema: Mapping[str, Any],
    trial: int,
) -> str:
    """The SHA-256 of everything that could change the answer; messages carry the stand-in delimiter."""
    tree = {
        "endpoint": endpoint,
        "model": model,
        "params": dict(params),
        "prompt": prompt_sha256,
        "messages": [dict(message) for message in messages],
        "schema": dict(schema),
        "trial": trial,
    }
    return sha256(canonical_json(tree))


def keys_of(case: Case) -> tuple[Key, ...]:
    """What names the judgements of a case within a run: response, unit, trial."""
    return tuple((case.response.id, unit.id, case.trial) for unit in case.units)


def subjects_of(case: Case) -> tuple[str, ...]:
    """What a case is about: its report, or its item where there is none, then its units."""
    return f"{case.item.id}/{case.response.id}", *(unit.id for unit in case.units)


class CallJournal(Protocol):
    """The finished calls, as a store keeps them."""

    def find(self, cache_key: str) -> Call | None:
        """The latest call of that key whose status is ok; an error is never served again."""
        ...

    def finished(self, run: str) -> Container[Key]:
        """The judgements that need not be asked for again in a run."""
        ...
