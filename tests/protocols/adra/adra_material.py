"""What the tests of ADRA are made of: an item, a response, its parts, and a judge that answers from memory."""

import asyncio

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.diagnostics import Diagnostics, Statement
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import Item, Response

ITEM = Item(id="i", key="q1", question="How does retrieval help?")


class Ask:
    """Gives the same answer to every question and keeps what it was asked."""

    def __init__(self, reply=None, status=Status.OK, cause="", flags=()):
        self.answer = Answer(status, reply, cause=cause, flags=flags)
        self.asked = []

    async def __call__(self, prompt, fields, reply, fenced=()):
        self.asked.append((prompt, fields, reply, tuple(fenced)))
        return self.answer


def run(coroutine):
    return asyncio.run(coroutine)


def response(text="", **fields):
    return Response(id="r", item_id="i", system_id="s", text=text, **fields)


def material(text="", documents=None, parts=None, **fields):
    documents = documents or {}
    artifact_ids = {kind: f"artifact of {kind.value}" for kind in documents}
    return Material(ITEM, response(text, **fields), documents, artifact_ids, parts or {})


def plan(letter, texts):
    """A plan whose sub-tasks have the ids p1, p2 …"""
    units = (Subtask(id=f"{letter}{n}", text=text) for n, text in enumerate(texts, start=1))
    return Plan(units=tuple(units))


def plans(predicted, gold):
    """Material with so many predicted and gold sub-tasks; None for no plan at all."""
    parts = {} if predicted is None else {ResponsePart.PLAN: plan("p", ["x"] * predicted)}
    return material(documents={Kind.PLAN: plan("g", ["y"] * gold)}, parts=parts)


def scored_matrix(rows, gold=None):
    """A matrix of 1, 0 and None (missing) as a rater's values on a predicted and a gold plan."""
    values = {
        f"p{i}~g{j}": "relevant" if cell else "not"
        for i, row in enumerate(rows, start=1)
        for j, cell in enumerate(row, start=1)
        if cell is not None
    }
    return RatedResponse(plans(len(rows), len(rows[0]) if gold is None else gold), values)


def works(*pairs):
    """References of (identifier, title)."""
    return tuple(Reference(id=f"w{n}", identifier=i, text=title) for n, (i, title) in enumerate(pairs))


def evidence(retrieved, gold):
    """Material with retrieved and gold references; None for references that are not known."""
    parts = {} if retrieved is None else {ResponsePart.REFERENCES: Evidence(units=retrieved)}
    return material(documents={Kind.EVIDENCE: Evidence(units=gold)}, parts=parts)


def statements(*labels):
    """Diagnostics with these gold labels, of ids s0, s1 …"""
    return Diagnostics(
        units=tuple(Statement(id=f"s{n}", text=f"Claim {n}.", label=label) for n, label in enumerate(labels))
    )


def metric(protocol, name):
    (result,) = (metric for metric in protocol.metrics if metric.name == name)
    return result
