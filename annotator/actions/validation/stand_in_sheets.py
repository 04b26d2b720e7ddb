"""How the answers are set out to whether a judge may stand in for people: in words, with the figures beside them."""

from dataclasses import asdict, replace
from functools import partial
from typing import Any

from annotator.actions.results import result_pictures
from annotator.actions.sets.validation_figures import TITLES
from annotator.actions.sheets.result_sheets import Cell, Line, Picture, Sheet, columns, count, figure, text
from annotator.actions.sheets.validation_cells import told
from annotator.actions.validation import validation
from annotator.actions.validation.stand_in import Answer, Answers, Verdict
from annotator.actions.validation.validation_behind import held
from annotator.domain.texts.estimate import Estimate
from annotator.stats.validation.alt_test import FALSE_DISCOVERIES

STATES = {Verdict.YES: "agreed", Verdict.NO: "disagree", Verdict.UNKNOWN: "incomplete"}
NO_TEST = Estimate(None, note="Fewer than three people labelled.")
HASH_SHOWN = 8


def sheets(found: Answers) -> tuple[Sheet, ...]:
    """An answer for each judge with the picture of how far it lies from people, then the test person by person."""
    return tuple(sheet for sheet in (answers(found), _people(found)) if sheet.lines)


def answers(found: Answers) -> Sheet:
    """An answer for each judge."""
    title = TITLES[found.wish.figure][0]
    heads = columns(
        "Judge",
        ("May it stand in?", "Yes where it is shown not to be worse than people with one another by more than the "
         "margin and passes the alternative annotator test, where three people labelled; no where it is shown to be "
         "worse; otherwise not yet known"),
        ("Prompt", "The first signs of its hash"),
        (f"Δ {title}", "Its agreement with people less people's with one another, on the units that have both, with "
         "the 95 % interval over items"),
        (f"{title} with people", TITLES[found.wish.figure][1]),
        ("People with one another", "The same figure of people, each held against every other"),
        ("ω", "Winning rate: the share of people than whom the judge is at least as close to the others, at margin ε"),
        ("ρ", "Advantage probability: how often the judge is at least as close to the others as a person is"),
        ("Items", "With units that it judged and two people labelled"), ("People", "Those who labelled"),
    )  # fmt: skip
    lines = tuple(_line(found, one) for one in found.answers)
    return Sheet("May a judge stand in for people?", heads, lines, _told(found), (_picture(found),),
                 answers=len(found.answers))  # fmt: skip


def trees(found: Answers) -> list[dict[str, Any]]:
    """Every answer as a JSON tree."""
    return [tree(one) for one in found.answers]


def tree(one: Answer) -> dict[str, Any]:
    """An answer as a JSON tree."""
    alt = one.alt
    figures = {
        "difference": one.difference, "judge_with_people": one.judge, "people": one.human,
        "winning_rate": alt.winning_rate if alt else NO_TEST, "advantage": alt.advantage if alt else NO_TEST,
    }  # fmt: skip
    return {
        "judge": one.rater.name, "prompt_sha256": one.rater.prompt, "answer": str(one.verdict), "because": one.because,
        "items": one.items, "labelled_by": one.people, **{name: asdict(found) for name, found in figures.items()},
        "persons": [asdict(person) for person in alt.people] if alt else [],
    }  # fmt: skip


def _line(found: Answers, one: Answer) -> Line:
    words = f"{one.rater.name}: {one.verdict}, because {one.because}"
    cells: tuple[Cell, ...] = (
        text(one.rater.name), text(one.verdict, tip=words, state=STATES[one.verdict]),
        text(one.rater.prompt[:HASH_SHOWN], tip=one.rater.prompt), told(one.difference), told(one.judge),
        told(one.human), _wins(one),
        figure(one.alt.advantage if one.alt else NO_TEST), count(one.items), count(one.people),
    )  # fmt: skip
    more = ((f"{one.verdict}, because", one.because),)
    return Line(
        cells, source=held(found.wish.of, one.rater, validation.ALL, f"{one.rater.name}: units"), more=more
    )


def _wins(one: Answer) -> Cell:
    """How many people the judge wins against, of those who could be tested."""
    rate = one.alt.winning_rate if one.alt else NO_TEST
    if one.alt is None or rate.value is None:
        return figure(rate)
    wins = sum(person.beaten for person in one.alt.people)
    return replace(figure(rate), words=f"{wins} of {rate.n}")


def _told(found: Answers) -> tuple[str, ...]:
    wish = found.wish
    return (
        *(f"“{one.rater.name}”: {one.verdict}, because {one.because}" for one in found.answers),
        f"Held against {found.against}, with a margin of {wish.delta:g} for {TITLES[wish.figure][0]} and ε = "
        f"{wish.epsilon:g} for the alternative annotator test (Calderon, Reichart & Dror 2025).",
    )


def _picture(found: Answers) -> Picture:
    title = f"{TITLES[found.wish.figure][0]} with people less people's with one another"
    names = [one.rater.name for one in found.answers]
    rows = [
        (
            f"{one.rater.name} ({one.rater.prompt[:4]})"
            if names.count(one.rater.name) > 1 and one.rater.prompt
            else one.rater.name,
            one.difference,
        )
        for one in found.answers
    ]
    axis = f"Difference, 95 % interval over items; dashed: −{found.wish.delta:g}"
    draw = partial(result_pictures.differences, title, rows, axis, margin=found.wish.delta)
    return Picture("difference", title, draw)


def _people(found: Answers) -> Sheet:
    heads = columns(
        "Judge", ("Person", "Left out, and held against the others beside the judge"),
        ("Judge as close", "Of the units, those on which the judge is at least as close to the others"),
        ("Person as close", "Of the units, those on which the person is"), ("n", "Units"),
        ("p", "Of the person's lead being ε or more, by a one-sided t test over items"),
        ("Judge wins", f"False discoveries among all people kept below {FALSE_DISCOVERIES:g} (Benjamini & Yekutieli)"),
    )  # fmt: skip
    lines = tuple(
        Line((
            text(one.rater.name), text(str(person.person)), count(person.judge, form=".3f"),
            count(person.own, form=".3f"), count(person.n), count(person.p, form=".4f"),
            text("yes" if person.beaten else "no", state="agreed" if person.beaten else ""),
        ))
        for one in found.answers if one.alt for person in one.alt.people
    )  # fmt: skip
    return Sheet("Person by person", heads, lines, ("The alternative annotator test.",))
