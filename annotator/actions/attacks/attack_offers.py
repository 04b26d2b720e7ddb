"""What judges can be put to the test on, and by which attacks: what the window lets choose."""

from dataclasses import dataclass

from sqlalchemy import func, select

from annotator.actions.attacks.attack_tests import LACKS, TEST, Wish
from annotator.actions.judges import judges, kept_keys
from annotator.actions.project.file import Project
from annotator.actions.runs.journal import JUDGEMENT
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.judgement import Status
from annotator.judging.attacks import ATTACKS, TARGETS, Needs
from annotator.protocols import PROTOCOLS


@dataclass(frozen=True, slots=True)
class Offered:
    """An attack that could be chosen; `lacks` says why it cannot be now."""

    name: str
    title: str
    about: str
    lacks: str


@dataclass(frozen=True, slots=True)
class Offer:
    """A judge with what it has judged from reports: by name of protocol, its title and how many verdicts there are."""

    judge: Judge
    protocols: tuple[tuple[str, str, int], ...]

    @property
    def asks(self) -> bool:
        """Whether it asks a model, which costs something."""
        return self.judge.kind == JudgeKind.ENDPOINT


def offers(project: Project) -> list[Offer]:
    """The judges that have verdicts on reports, the baseline first."""
    j = JUDGEMENT.c
    question = (
        select(j.rater_id, j.protocol, func.count())
        .where(j.protocol.in_(TARGETS), j.status == Status.OK.value, j.trial == 1)
        .group_by(j.rater_id, j.protocol)
    )
    with project.store.read() as db:
        counts = {(row[0], row[1]): row[2] for row in db.execute(question)}
    found = []
    for judge in judges.all_of(project):
        there = tuple(
            (name, PROTOCOLS[name].title, counts[judge.id, name])
            for name in TARGETS
            if (judge.id, name) in counts
        )
        if there and judge.kind != JudgeKind.DERIVED:
            found.append(Offer(judge, there))
    return found


def protocols(project: Project) -> list[str]:
    """Under which protocols judges were put to the test, in the order in which they are offered."""
    with project.store.read() as db:
        there = set(db.execute(select(TEST.c.protocol).distinct()).scalars())
    return [name for name in TARGETS if name in there]


def writers(project: Project) -> list[str]:
    """The judges whose model could say reports in other words."""
    return [one.name for one in judges.all_of(project) if one.kind == JudgeKind.ENDPOINT and not one.asked.of]


def attacks_on(judge: Judge, *, writer: bool) -> list[Offered]:
    """All attacks, with why a judge cannot be put to some."""
    able = {
        Needs.NOTHING: True,
        Needs.MODEL: judge.kind == JudgeKind.ENDPOINT,
        Needs.TOGETHER: judge.asked.together > 1,
        Needs.WRITER: writer,
    }
    return [
        Offered(one.name, one.title, one.about, "" if able[one.needs] else LACKS[one.needs])
        for one in ATTACKS.values()
    ]


def handed_over(project: Project, wish: Wish) -> dict[str, str]:
    """The environment in which a child finds the judge's key; where two endpoints are asked it finds keys by itself.

    A key that is handed over would go to either of them.
    """
    judge = judges.named(project, wish.judge)
    writer = judges.named(project, wish.writer) if wish.writer else judge
    return kept_keys.handed_over(project, judge) if writer.base_url == judge.base_url else {}
