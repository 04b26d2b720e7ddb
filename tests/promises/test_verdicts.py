"""What Goldsmith promises about verdicts, and their totals."""

import json
import pkgutil
import random
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from sqlalchemy import update

from annotator import protocols
from annotator.actions.project.file import Project
from annotator.judging.calls.reply_parts import ReplyForm, UnreadableReply, parse
from annotator.judging.messages import strict_schema
from annotator.protocols.adra.plan import Row
from annotator.protocols.adra.preference import ASPECTS, Preferred
from annotator.protocols.adra.reasoning import Told
from annotator.protocols.arena.alignment import RELATIONS, Relation
from annotator.protocols.arena.checklist import RATINGS, Rating
from annotator.protocols.deepscholar import system
from annotator.protocols.deepscholar.importance import NuggetImportance, ReferenceImportance
from annotator.protocols.deepscholar.nuggets import NuggetSupport
from annotator.protocols.deepscholar.organization import BetterOrganized
from annotator.protocols.deepscholar.precision import Entailed
from annotator.protocols.deepscholar.references import Relevance
from annotator.protocols.researcherbench.coverage import Coverage
from annotator.protocols.researcherbench.factual import Verification
from annotator.protocols.researcherbench.pairwise import Preference
from annotator.storage.tables import CALL
from tests.cli.commands import printed, told
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.servers.served import JUDGE, file_with_judge
from tests.storage import sql

Read = Callable[[Any], list[str]]
SUPPORT = {"support": "supported", "partial_support": "partly-supported", "not_support": "not-supported"}
ONE: dict[type[BaseModel], tuple[tuple[str, ...], Read]] = {
    Coverage: (("yes", "no"), lambda reply: [reply.covered]),
    Preference: (("first", "second", "tie"), lambda reply: [reply.better]),
    Told: (("true", "false", "cannot-tell"), lambda reply: [reply.verdict]),
    BetterOrganized: (("first", "second"), lambda reply: [reply.better]),
    Relevance: (("0", "1", "2"), lambda reply: [reply.relevance]),
    NuggetImportance: (("vital", "okay"), lambda reply: [reply.importance]),
    ReferenceImportance: (("important", "not-important"), lambda reply: [reply.importance]),
    Entailed: (("yes", "no"), lambda reply: [reply.supported]),
    system.RelevantWork: (("yes", "no"), lambda reply: [reply.relevant]),
    system.BetterWork: (("first", "second"), lambda reply: [reply.better]),
    NuggetSupport: (tuple(SUPPORT.values()), lambda reply: [SUPPORT[reply.support]]),
    Rating: (RATINGS, lambda reply: [reply.rating]),
    Relation: (RELATIONS, lambda reply: [reply.relation]),
}
SEVERAL: dict[type[BaseModel], tuple[tuple[str, ...], Read]] = {
    Verification: (("yes", "no", "unknown"), lambda reply: [one.supported for one in reply.claims]),
    Row: (("relevant", "not"), lambda reply: [one.verdict for one in reply.cells]),
}
# Reports and their parts, notes, and lines of plans, queries or facts to choose from are whatever the model writes; the
# last three are what others are made from.
TEXTS = {
    "Report", "Subtasks", "Continuation", "Notes", "SectionText", "Summary", "SearchQueries", "DrawnNuggets",
    "ModelReply", "ValueReply", "QuotingReply",
}  # fmt: skip


def replies() -> Iterator[type[BaseModel]]:
    """Every class of the protocols that a reply, or a part of one, is read as."""
    for module in pkgutil.walk_packages(protocols.__path__, "annotator.protocols."):
        for form in vars(import_module(module.name)).values():
            if isinstance(form, type) and issubclass(form, BaseModel) and form.__module__ == module.name:
                yield form


REPLIES = [form for form in replies() if form.__name__ not in TEXTS]
VALUES = ("yes", "no", "unknown", "first", "second", "tie", "true", "false", "cannot tell", "relevant", "not")
ENGLISH = (
    "idea: I cannot tell", ", I compare both reports. The {other} is clearly better.", "opinion on this",
    "doubt: it is covered", "(or {other})", "|{other}", "/{other}", "and {other}", "verdict can be given",
    "to its title, the report says nothing of costs.", "– although it depends", ". But also {other}.", "?", "...",
    "as far as I can see", ", in part", "is what I would say if I had to", "\n{other}", "\nOr rather {other}.",
    "\nVerdict: {other}", "\n\nIt is there.\n**{other}**",
)  # fmt: skip
CHINESE = (
    "，我无法判断", "，报告没有提到这一点。", "或{other}都可以", "这个词在报告里出现过", "？不好说",
    "，但是{other}也有道理。", "\n不对，结论：{other}",
)  # fmt: skip
BEFORE = (
    "I think it is {said}", "The answer is {said}", "It says “{said}” there.", "Not {said}", "Maybe {said}",
    "Let me think.\n{said}", "{said} {said} {said}", "Sure! {said}", "答案不是{said}", "报告说“{said}”。",
    "如果一定要选，我选{said}", "无法回答。\n{said}",
)  # fmt: skip
NAMES = ("", "", "g1: ", "c1: ", "s1: ", "- **g2**: ", "1. ", "Answer: ", "**Verdict:** ", "结论：")
SPELLED = (str, str.capitalize, str.upper, lambda said: f"**{said}**", lambda said: f"“{said}”")


def prose(values: tuple[str, ...], chance: random.Random) -> Iterator[str]:
    """Replies in prose that begin with a value, contain it or quote it, as models write them."""
    while True:
        value, other = chance.sample(values, 2)
        said = chance.choice(SPELLED)(value)
        if chance.random() < 0.3:
            yield chance.choice(BEFORE).format(said=said)
            continue
        rest = chance.choice(ENGLISH + CHINESE).format(other=other)
        space = "" if rest[0] in ",.?|/\n" or ord(rest[0]) > 0x2E80 else " "
        yield f"{chance.choice(NAMES)}{said}{space}{rest}"


def verdicts(said: str, reply: type[BaseModel], read: Read = lambda _: ["read"]) -> list[str]:
    try:
        return read(parse(said, reply, ReplyForm.TEXT))
    except UnreadableReply:
        return []


@pytest.mark.parametrize("reply", [form for form in REPLIES if hasattr(form, "from_text")])
def test_prose_that_holds_a_value_is_never_a_verdict(reply: type[BaseModel]) -> None:
    values, _ = (ONE | SEVERAL).get(reply, (VALUES, str))
    heard = islice(prose(values, random.Random(7)), 2_000)
    # “Not” before “supported” makes another of the values, in the agreed form.
    meant = (said for said in heard if said.lower().replace(" ", "-") not in values)
    assert [said for said in meant if verdicts(said, reply)] == []


@pytest.mark.parametrize("reply", REPLIES)
def test_a_schema_demands_every_field_and_no_other(reply: type[BaseModel]) -> None:
    schema = strict_schema(reply)
    for each in (schema, *schema.get("$defs", {}).values()):
        if each.get("type") == "object":
            assert each["additionalProperties"] is False
            assert each["required"] == list(each["properties"])


def well_formed(values: tuple[str, ...], chance: random.Random, name: str = "") -> tuple[str, str]:
    value = chance.choice(values)
    spelled = chance.choice([value, value.upper(), value.capitalize(), value.replace("-", " ")])
    marked = chance.choice(["{}", "**{}**", "{}.", "`{}`", "“{}”", "> {}", "**{}.**"]).format(spelled)
    label = name or chance.choice(["", "", "Verdict: ", "**Final answer:** ", "结论："])
    later = chance.choice(
        ["", "\nIt is there.", '\n"costs rise" says it.\nSo the report has it.', "\n\n报告写明了。"]
    )
    before, after = chance.choice(
        [("", ""), ("<think>Yes or no?</think>\n", ""), ("```\n", "\n```"), ("\n", "\n")]
    )
    return f"{before}{label}{marked}{later}{after}", value


@pytest.mark.parametrize("reply", ONE)
def test_a_reply_in_the_agreed_form_is_always_a_verdict(reply: type[BaseModel]) -> None:
    values, read = ONE[reply]
    chance = random.Random(11)
    asked = [well_formed(values, chance) for _ in range(200)]
    assert [verdicts(said, reply, read) for said, _ in asked] == [[value] for _, value in asked]


@pytest.mark.parametrize("reply", SEVERAL)
def test_each_of_several_in_the_agreed_form_has_its_verdict(reply: type[BaseModel]) -> None:
    values, read = SEVERAL[reply]
    chance = random.Random(13)
    for _ in range(200):
        asked = [well_formed(values, chance, f"g{number}: ") for number in (1, 2, 3)]
        plain = [said.replace("<think>Yes or no?</think>\n", "").strip("`\n") for said, _ in asked]
        assert verdicts("\n".join(plain), reply, read) == [value for _, value in asked]


def test_a_preference_is_read_from_all_its_lines_alone() -> None:
    lines = [
        f"{name.upper()}: {said}" for name, said in zip(ASPECTS, ("tie", "first", "Second"), strict=True)
    ]
    lines += ["BETTER: second", "WHY: It holds together."]
    assert (
        verdicts("\n".join(lines), Preferred, lambda reply: [reply.coherence, reply.better]) == ["second"] * 2
    )
    for left_out in range(len(lines)):
        assert verdicts("\n".join(lines[:left_out] + lines[left_out + 1 :]), Preferred) == []
    assert verdicts("\n".join([*lines[:3], "BETTER: second, or first", lines[4]]), Preferred) == []


# On the command line, against an endpoint that knows plain text alone.


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> Path:
    return file_with_judge(tmp_path, server)


def saying(*replies: str) -> Callable[[dict[str, Any], int], Odd]:
    """A server that turns every schema down and says these things in turn, over and over."""

    def answer(body: dict[str, Any], number: int) -> Odd:
        if "response_format" in body:
            return error(400, "response_format is not supported", param="response_format")
        return completion(replies[number % len(replies)])

    return answer


def judged_less_strictly(file: Path, capsys: Any, server: OddServer) -> None:
    """Verdicts of a plain endpoint as an earlier version read them: their replies hold none by the rules of today."""
    server.answer = saying("no\nI cannot tell.")
    assert told(capsys, "judge", "run", file, "--judge", JUDGE)["missing"] == {}
    project = Project.open(file)
    with project.store.write() as db:
        db.execute(update(CALL).values(raw="No idea: I cannot tell."))
    project.close()


def test_verdicts_that_their_replies_do_not_hold_are_counted_and_taken_back_on_request(
    file: Path, capsys: Any, server: OddServer
) -> None:
    judged_less_strictly(file, capsys, server)
    asked = len(server.bodies)
    out = printed(capsys, "judge", "reread", file, "--judge", JUDGE)
    assert ("12 verdicts would change" in out, "judge reread --all" in out) == (True, True)
    assert told(capsys, "judge", "missing", file)["by_cause"] == {}
    assert "12 verdicts were removed" in printed(capsys, "judge", "reread", file, "--judge", JUDGE, "--all")
    assert told(capsys, "judge", "missing", file)["by_cause"] == {"invalid": 12}
    assert len(server.bodies) == asked
    question = "SELECT after FROM audit WHERE verb = 'read replies again' ORDER BY seq"
    *_, (after,) = sql.rows(Project.open(file, readonly=True), question)
    assert list(json.loads(after)["before"].values()) == [["ok", "no"]] * 12
