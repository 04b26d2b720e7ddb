"""Validity cards: which can be made in this project, and their files outside of it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import wraps
from pathlib import Path

from sqlalchemy import select

from annotator import files
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.project.keeping import kept, known
from annotator.actions.results.result_sheets import ViewChoice
from annotator.actions.studies.result_views import ResultView
from annotator.actions.validation import validation_views, validity_cards
from annotator.actions.validation.validity_cards import NO_PROMPT
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.judges.validity_card import ValidityCard
from annotator.domain.texts.redaction import held, looks_like_key
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.cards import card_files, card_pages
from annotator.protocols import USUAL
from annotator.storage.tables import JUDGEMENT, RUN

NAME = "card"
SHOWN = 8
ENDINGS = card_files.ENDINGS


@kept
def choices(project: Project) -> tuple[ViewChoice, ...]:
    """What was judged, by whom, by which wording where there are several, and on which labels it is validated."""
    labels = [one for one in validation_views.choices(project) if one.name != "by"]
    protocols = [value for one in labels if one.name == "protocol" for _, value in one.values]
    judged = [choice for protocol in protocols for choice in _judges(project, protocol)]
    first = [one for one in labels if one.name == "protocol"]
    return (*first, *judged, *(one for one in labels if one.name != "protocol"))


@kept
def report(
    project: Project, judge: str = "", protocol: str = USUAL, prompt: str = "", set: str = "", part: str = "",  # noqa: A002
    against: str = "", positive: str = "", opening: str = "",
) -> ValidityCard:  # fmt: skip
    """The card of these choices; `opening` is the id of a counted look, wherever the test part is shown."""
    return validity_cards.card(project, _wish(judge, protocol, prompt, set, part, against, positive, opening))


# By what it lets choose it is a report.
@wraps(report, assigned=())
def at_once(project: Project, **chosen: str) -> ValidityCard:
    """The card of these choices where it is kept, otherwise what can be told of it at once."""
    card = known(report, project, **chosen)
    return card if card is not None else validity_cards.sketch(project, _wish(**chosen))


def _wish(
    judge: str = "", protocol: str = USUAL, prompt: str = "", set: str = "", part: str = "", against: str = "",  # noqa: A002
    positive: str = "", opening: str = "",
) -> validity_cards.CardQuery:  # fmt: skip
    if not judge:
        raise Refusal("No judge has judged anything of this kind yet.", "Run a judge on these reports first.")
    whom = (against,) if against else ()
    return validity_cards.CardQuery(judge, protocol, set, part, whom, positive, prompt, opening)


def _judges(project: Project, protocol: str) -> Iterator[ViewChoice]:
    """Those that judged, the baseline last, and the wordings of each that judged by several."""
    j = JUDGEMENT.c
    question = (
        select(j.rater_id, RUN.c.prompt_sha256)
        .outerjoin(RUN, RUN.c.id == j.run_id)
        .where(j.protocol == protocol, j.rater_kind == RaterKind.JUDGE.value)
        .distinct()
    )
    wordings: dict[str, list[str]] = defaultdict(list)
    with project.store.read() as db:
        for judge_id, prompt in db.execute(question):
            wordings[judge_id].append(prompt or "")
    there = sorted(
        (one for one in judges.all_of(project) if one.id in wordings),
        key=lambda one: one.kind == JudgeKind.BASELINE.value,
    )
    if there:
        names = tuple((one.name, one.name) for one in there)
        yield ViewChoice("judge", "Judge", names, ("protocol", (protocol,)))
    for one in there:
        if len(wordings[one.id]) > 1:
            hashes = (prompt or NO_PROMPT for prompt in sorted(wordings[one.id]))
            known = tuple((prompt[:SHOWN], prompt) for prompt in hashes)
            yield ViewChoice("prompt", "Prompt", known, ("judge", (one.name,)))


VIEW = ResultView(
    NAME,
    "Card",
    "Cards",
    "One judge under one wording, with all that is known of it, in one file.",
    validation_views.NOBODY,
    choices,
    report,
    lambda card: (validity_cards.brief(card),),
    "Label",
)
AT_ONCE = replace(VIEW, report=at_once)


def refuse_place(path: Path) -> None:
    """Refusal where no card could be written, so that it is known before a look at the test part is counted."""
    card_files.refuse_ending(path.suffix)
    if not path.parent.is_dir():
        raise Refusal(f"There is no folder “{path.parent.name}” for the card.", "Choose another folder.")


def save(card: ValidityCard, path: Path) -> Path:
    """Write a card as JSON or as a page, by the ending of `path`; whole or not at all."""
    content = card_files.content(card, path.suffix)
    text = content.decode("utf-8", "replace")
    if looks_like_key(text) or any(key in text for key in held()):
        raise Refusal("The card would contain a key.", "Remove it from the judge's settings first.")
    return files.save(path, content)


def read(path: Path) -> ValidityCard:
    """The card of a file; Refusal where it is none, is newer, or was changed."""
    return card_files.read(path)


def body(card: ValidityCard) -> str:
    return card_pages.body(card)


def sketch(card: ValidityCard) -> str:
    """The same of a card that is still being made."""
    return card_pages.sketch(card)
