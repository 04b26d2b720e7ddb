"""Progress of validation sets: subject, labellers, and what is left before locking."""

from collections import Counter
from dataclasses import dataclass

from annotator.actions.judging import judge_offers
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.actions.sets.validation_sets import ValidationSet
from annotator.domain.judges.validation import Opening


@dataclass(frozen=True, slots=True)
class SetStatus:
    """A set with its title, its labellers and their items, and what each still has to do.

    `types` counts its responses by question type; `openings` are the looks at its test part, the first one first.
    """

    set: ValidationSet
    title: str
    raters: dict[str, int]
    types: dict[str, int]
    lacking: tuple[str, ...]
    openings: tuple[Opening, ...]

    @property
    def locked(self) -> bool:
        """Whether its labels are the metric from here on."""
        return self.set.locked_at is not None


def standings(project: Project) -> list[SetStatus]:
    """Every set, the newest first; for coordinators."""
    people.refuse_others(project, "can see validation sets")
    aliases = {person.id: person.alias for person in people.people(project)}
    return [_standing(project, one, aliases) for one in reversed(validation_sets.sets(project))]


def _standing(project: Project, found: ValidationSet, aliases: dict[str, str]) -> SetStatus:
    raters = Counter(aliases[person] for whose in found.content.dealt.values() for person in whose)
    types = Counter(one.question_type or "no type" for one in found.content.responses)
    lacking = () if found.locked_at is not None else tuple(validation_sets.lacking(project, found))
    return SetStatus(
        found, judge_offers.title(found.protocol), dict(sorted(raters.items())), dict(types.most_common()), lacking,
        tuple(validation_sets.openings(project, found.id)),
    )  # fmt: skip
