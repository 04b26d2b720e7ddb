"""Digits typed at any speed: every key labels what was at hand when it was typed, and moves on."""

from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from PySide6.QtTest import QTest

from annotator.actions.contests import contest_rows
from annotator.actions.labelling.label_rows import UNSURE
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.judges.protocol import Level, ValueLook
from annotator.gui import keys
from annotator.gui.pages.labelling.unit_card import VerdictButtons
from annotator.gui.review.queues import LINE_ROLE
from annotator.gui.review.verdict_words import places
from annotator.protocols import PROTOCOLS
from tests.actions.contests.contest_project import add_seminar, task
from tests.projects import judged_project, pairs_project
from tests.projects.small_projects import labelling_project
from tests.storage import sql
from tests.templates import once
from tests.windows.using import owned, press, settle

MANY, PAUSE_MS = 12, 20
HELP = Path(__file__).parents[3] / "resources" / "help" / "labelling.md"
# What was answered, by subject in the order typed.
Answers = dict[Any, Any]


def typed(keys: str) -> Iterator[str]:
    return islice(cycle(keys), MANY)


def strike(number: int, key: str) -> None:
    """Press a key: most without a pause, each third one after the page has come to rest."""
    if number % 3 == 2:
        QTest.qWait(PAUSE_MS)
    press(key)


@once
def judged(folder: Path) -> Project:
    """A judge judged everything, and one person labelled it all and agreed with every other verdict."""
    project = judged_project.imported(
        folder / "judged.goldsmith", judged_project.peer_folder(folder / "peer", 3, 6, 3, 40)
    )
    people.someone(project)
    judged_project.judge_everything(project, 1)
    judged_project.label_everything(project, "Ann", 1.0, 0.4)
    return project


def label(folder: Path, page_over: Any) -> tuple[Answers, Answers]:
    """Two reports; at the end of each the person goes on."""
    page = page_over(labelling_project(folder, criteria=MANY // 2, reports=2, questions=1), "Label")
    keys, wanted = typed("1221212"), {}
    for _ in range(2):
        here = {
            (page.bench.response_id, unit.id): key for unit, key in zip(page.bench.units, keys, strict=False)
        }
        for number, key in enumerate(here.values()):
            strike(number, key)
        press("Ctrl+Return")
        wanted |= here
    rows = sql.rows(page.session.project, "SELECT response_id, unit_id, value FROM judgement")
    said = {"yes": "1", "no": "2"}
    return wanted, {(response_id, unit_id): said[value] for response_id, unit_id, value in rows}


def adjudicate(folder: Path, page_over: Any) -> tuple[Answers, Answers]:
    """Two items; half of the rows both have worded, so that a ruling needs a reason, which none is given here."""
    project, each, takes = (
        pairs_project.pairs_project(folder, 2),
        MANY // 2,
        {"0": "drop", "1": "A", "2": "B"},
    )
    words = [
        f"Names {number} of the {number * 7} causes in its {number * 13}th table" for number in range(each)
    ]
    for place in range(2):
        pairs_project.submit(project, {
            "Ada": pairs_project.rubric(tuple((one, 1 + n % 2) for n, one in enumerate(words)), "a"),
            "Ben": pairs_project.rubric(tuple((one, 3) for one in words[::2]), "b"),
        }, place)  # fmt: skip
    page = page_over(pairs_project.work_as(project, "Cleo"), "Adjudicate")
    page.frame.beginning.begin.click()
    keys, wanted = typed("0112"), {}
    for _ in range(2):
        here = {}
        for row, key in zip(page.bench.rows.values(), keys, strict=False):
            here[row.ruling.id] = "drop" if key == "0" or takes[key] not in row.units else takes[key]
        keys_of = {take: key for key, take in takes.items()}
        for number, take in enumerate(here.values()):
            strike(number, keys_of[take])
        press("Ctrl+PgDown")
        wanted |= here
    rows = sql.rows(project, "SELECT id, json_extract(content, '$.take') FROM ruling")
    return wanted, dict(rows)


def rule(folder: Path, page_over: Any) -> tuple[Answers, Answers]:
    page = settle(page_over(judged(folder), "Validate", part="Disagreements"))
    page.focus_first()
    model, answers = (
        page.part.bench.cases,
        {"1": "judge wrong", "2": "person wrong", "3": "criterion unclear"},
    )
    shown = [model.index(row).data(LINE_ROLE).key[:3] for row in range(MANY)]
    wanted = dict(zip(shown, typed("1213"), strict=True))
    for number, key in enumerate(wanted.values()):
        strike(number, key)
    rows = sql.rows(page.session.project, "SELECT judge_id, response_id, unit_id, said FROM informed")
    return {case: answers[key] for case, key in wanted.items()}, {row[:3]: row[3] for row in rows}


def rank(folder: Path, page_over: Any) -> tuple[Answers, Answers]:
    project = pairs_project.pairs_project(folder)
    for seminar in range(3):
        add_seminar(project, f"s{seminar}", tuple(task(seminar * 20 + n) for n in range(20)))
    page = page_over(project, "Contest")
    wanted = {}
    for number, key in enumerate(typed("1638052749")):
        pair = page.ranking._pair
        # From the first nearly certainly, by 1, down to the second nearly certainly, by 0.
        side, sure = divmod((int(key) - 1) % 10, 5)
        steps = (0.95, 0.8, 0.7, 0.6, 0.5) if side == 0 else (0.5, 0.6, 0.7, 0.8, 0.95)
        wanted[pair.first.id, pair.second.id] = ("first", "second")[side], steps[sure]
        strike(number, key)
    result = contest_rows.showings(project, people.someone(project).id)
    return wanted, {(one.first, one.second): (one.value, one.confidence) for one in result}


@pytest.mark.parametrize("page", [label, adjudicate, rule, rank], ids=lambda page: page.__name__)
def test_digits_at_any_speed_are_as_many_labels_each_where_it_belongs(
    page: Any, tmp_path: Path, page_over: Any
) -> None:
    wanted, result = page(tmp_path, page_over)
    assert len(wanted) == MANY
    assert result == wanted


@pytest.mark.parametrize(
    "name", [name for name, one in PROTOCOLS.items() if one.values and one.presentation.tab]
)
def test_1_is_the_best_answer_and_buttons_keys_f1_and_help_say_the_same(
    qapp: Any, qtbot: Any, name: str
) -> None:
    scale, tab = PROTOCOLS[name].scale, PROTOCOLS[name].presentation.tab
    known = {binding.act: binding for binding in keys.BINDINGS}
    offered = [*scale.best_first, UNSURE]
    buttons = owned(qtbot, VerdictButtons(cast(Any, SimpleNamespace(protocol=name)), offered, "", ""))
    said = [scale.value(each).words for each in scale.best_first] + ["Unsure"]
    by_digit = (
        scale.best_first if scale.of_numbers else tuple(str(n) for n in range(1, len(scale.best_first) + 1))
    )
    pressed = ["=" if key == "10" else key for key in by_digit] + ["-"]
    assert [button.words for button in buttons.buttons] == said
    assert [button._key for button in buttons.buttons] == pressed
    acts = {place: act for act, place in places(name).items()}
    assert [known[acts[place]].keys[0] for place in range(len(offered))] == pressed
    rows = [line for line in HELP.read_text(encoding="utf-8").splitlines() if f"**{tab}**" in line]
    values = f"{said[0]} to {said[-2]}" if scale.level is Level.INTERVAL else ", ".join(said[:-1]).lower()
    assert any(f"| {values} |" in row for row in rows), (
        f"{HELP.name} needs a row | **{tab}** | {values} | … |"
    )
    if not scale.of_numbers:
        assert scale.value(scale.best_first[0]).look in (ValueLook.GOOD, ValueLook.FIRST)
        assert all(
            word in known[acts[place]].title
            for place, word in zip(
                range(len(offered) - 1), ("first", "second", "third", "fourth"), strict=False
            )
        )
    if scale.level is Level.ORDINAL and not scale.of_numbers:
        falling = [scale.number(each) for each in scale.best_first]
        assert falling == sorted(falling, reverse=True)
