"""What a card tells of attacks: how often the judge, as it judged under this wording, fell for each."""

from sqlalchemy import select, true

from annotator.actions.attacks import attack_figures
from annotator.actions.attacks.attack_figures import Line
from annotator.actions.attacks.attack_tests import TEST
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.runs.journal import RUN
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.validity_card import Attacked, Figure
from annotator.judging.attacks import AIMS


def attacked(project: Project, protocol: str, judge: str, prompt: str) -> tuple[Attacked, ...]:
    """Each attack of its newest test; tests under other words of the prompt say nothing of this judge."""
    if protocol not in AIMS:
        return ()
    # The baseline reads no prompt.
    asked = judges.named(project, judge).kind == JudgeKind.ENDPOINT
    question = select(TEST.c.id).join(RUN, RUN.c.id == TEST.c.run_id)
    question = question.where(RUN.c.prompt_sha256 == prompt if asked else true())
    with project.store.read() as db:
        same = set(db.execute(question).scalars())
    found = attack_figures.report(project, protocol, judge)
    return tuple(_told(line) for line in found.lines if line.test_id in same)


def _told(line: Line) -> Attacked:
    base = (
        "" if line.already is None else f"; {line.already:,} were that already, and are no part of the rate"
    )
    moved = f"{line.up:,} towards what it aims at, {line.down:,} away from it, {line.aside:,} aside{base}"
    return Attacked(name=line.attack, title=line.title, failures=Figure.of(line.failed), note=moved)
