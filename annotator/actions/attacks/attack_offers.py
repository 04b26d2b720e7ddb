"""Judges that can be tested, and the attacks available for each."""

from dataclasses import dataclass

from sqlalchemy import func, select

from annotator.actions.attacks.attack_tests import LACKS, TEST, AttackRequest
from annotator.actions.judges import judges, kept_keys
from annotator.actions.project.file import Project
from annotator.actions.runs.journal import JUDGEMENT
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.judgement import Status
from annotator.judging.attacks import ATTACKS, TARGETS, AttackNeeds
from annotator.protocols import PROTOCOLS


@dataclass(frozen=True, slots=True)
class AttackOffer:
    """An available attack; `lacks` says why it cannot be used now."""

    name: str
    title: str
    about: str
    lacks: str


@dataclass(frozen=True, slots=True)
class AttackableJudge:
    """A judge with its protocols: their titles and how many verdicts on reports there are."""

    judge: Judge
    protocols: tuple[tuple[str, str, int], ...]

    @property
    def asks(self) -> bool:
        """Whether it asks a model, which costs something."""
        return self.judge.kind == JudgeKind.ENDPOINT


def offers(project: Project) -> list[AttackableJudge]:
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
            found.append(AttackableJudge(judge, there))
    return found


def protocols(project: Project) -> list[str]:
    """Under which protocols judges were tested, in the order in which they are offered."""
    with project.store.read() as db:
        there = set(db.execute(select(TEST.c.protocol).distinct()).scalars())
    return [name for name in TARGETS if name in there]


def writers(project: Project) -> list[str]:
    """The judges whose model could say reports in other words."""
    return [one.name for one in judges.all_of(project) if one.kind == JudgeKind.ENDPOINT and not one.asked.of]


def attacks_on(judge: Judge, *, writer: bool) -> list[AttackOffer]:
    """All attacks, with why a judge cannot be put to some."""
    able = {
        AttackNeeds.NOTHING: True,
        AttackNeeds.MODEL: judge.kind == JudgeKind.ENDPOINT,
        AttackNeeds.TOGETHER: judge.asked.together > 1,
        AttackNeeds.WRITER: writer,
    }
    return [
        AttackOffer(one.name, one.title, one.about, "" if able[one.needs] else LACKS[one.needs])
        for one in ATTACKS.values()
    ]


def handed_over(project: Project, request: AttackRequest) -> dict[str, str]:
    """The environment in which a child finds the judge's key; where two endpoints are asked it finds keys by itself.

    A key that is handed over would go to either of them.
    """
    judge = judges.named(project, request.judge)
    writer = judges.named(project, request.writer) if request.writer else judge
    return kept_keys.handed_over(project, judge) if writer.base_url == judge.base_url else {}
