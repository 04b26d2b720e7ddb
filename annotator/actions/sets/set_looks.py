"""Looks at the test part of a set, and whether an earlier look still covers its figures."""

from dataclasses import dataclass

from annotator.actions.labelling import label_cases
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_ground, validation_sets, validation_values
from annotator.domain.judges.validation import Split
from annotator.domain.texts.canonical import canonical_json, sha256


@dataclass(frozen=True, slots=True)
class SetLook:
    """Locked labels of a set with the judges' verdicts on its test part; equal looks show the same.

    `judges` are their names, and `said_sha256` is of every verdict under every wording.
    """

    set_id: str
    name: str
    labels_sha256: str
    judges: tuple[str, ...]
    said_sha256: str
    openings: int


def covers(counted: SetLook, now: SetLook) -> bool:
    """Whether what was looked at then is all that is looked at now."""
    return (counted.set_id, counted.labels_sha256, counted.said_sha256) == (
        now.set_id,
        now.labels_sha256,
        now.said_sha256,
    )


def is_closed(set_name: str, part: str) -> bool:
    """Whether a part of a set is opened on purpose only."""
    return bool(set_name) and part not in ("", Split.DEV.value)


def seen(project: Project, set_name: str) -> SetLook:
    """What a look at the test part of a set would show now; Refusal while its labels are not locked."""
    found = validation_sets.named(project, set_name)
    validation_sets.refuse_unlocked(found)
    test = found.responses(Split.TEST)
    shape = label_cases.shape_of(project, found.protocol)
    versions = validation_values.of_judges(project, shape)
    said = sorted(
        (validation_ground.rater_of(one).key, *key, value)
        for one in versions
        for each in (one.said, one.missing)
        for key, value in each.items()
        if key[0] in test
    )
    keys = {row[0] for row in said}
    judges = sorted({one.judge.name for one in versions if validation_ground.rater_of(one).key in keys})
    return SetLook(
        found.id, found.name, found.labels_sha256, tuple(judges), sha256(canonical_json(said).decode()), found.openings
    )  # fmt: skip
