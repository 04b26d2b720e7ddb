"""Judges that can be tested, and the attacks available for each."""

from dataclasses import dataclass

from sqlalchemy import func, select

from annotator.actions.attacks.attack_tests import LACKS, can
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.judgement import Status
from annotator.judging.attacks import ATTACKS, TARGETS
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import ATTACK_TEST, JUDGEMENT


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
        there = set(db.execute(select(ATTACK_TEST.c.protocol).distinct()).scalars())
    return [name for name in TARGETS if name in there]


def attacks_on(judge: Judge, protocol: str) -> list[AttackOffer]:
    """All attacks on verdicts under a protocol, with why a judge cannot be put to some."""
    return [
        AttackOffer(
            one.name, one.title, one.about, "" if can(one.needs, judge, protocol) else LACKS[one.needs]
        )
        for one in ATTACKS.values()
    ]
