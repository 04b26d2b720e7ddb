"""Profiles: the documents that experts write in a project, what is judged there, and the conditions for models'
reports.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from annotator.domain.common import Refusal
from annotator.domain.kinds.kind import Kind


@dataclass(frozen=True, slots=True)
class Profile:
    """The parts of the program that a project uses. `text` is its stored form: names of choices, kinds and protocols.

    Kinds and parts of reports in `bring` add the protocols that judge by them, unless a chosen protocol needs them.
    That is computed on demand, as it loads the papers.
    """

    kinds: frozenset[Kind]
    protocols: frozenset[str]
    text: str = ""
    bring: frozenset[str] = frozenset()

    def uses(self, name: str) -> bool:
        """Whether a kind of document is written, or a protocol used for judging."""
        return name in self.kinds or (name not in {kind.value for kind in Kind} and self.judges(name))

    def judges(self, protocol: str) -> bool:
        """Whether reports are labelled and judged by a protocol."""
        from annotator.protocols import PROTOCOLS

        if ALL in self.text.split() or protocol in self.protocols:
            return True
        one, paper = PROTOCOLS[protocol], protocol.partition(".")[0]
        if not (one.values or one.needs or one.parts):
            # It is computed from reports alone, and comes with the rest of its paper.
            others = (other for other in PROTOCOLS if other.startswith(f"{paper}.") and other != protocol)
            return any(PROTOCOLS[other].needs and self.judges(other) for other in others)
        used = {part for name in self.protocols & PROTOCOLS.keys() for part in PROTOCOLS[name].parts}
        return not (self.bring - used).isdisjoint((*one.needs, *one.parts))

    def with_(
        self, kinds: Iterable[Kind], protocols: Iterable[str] = (), bring: Iterable[str] = ()
    ) -> "Profile":
        return Profile(
            self.kinds.union(kinds), self.protocols.union(protocols), self.text, self.bring.union(bring)
        )


@dataclass(frozen=True, slots=True)
class ProfileChoice:
    """One option of the New project page."""

    name: str
    title: str
    about: str
    icon: str
    kinds: tuple[Kind, ...]
    protocols: tuple[str, ...]


CHOICES = (
    ProfileChoice(
        "rubrics",
        "Weighted rubrics",
        "Experts write criteria weighted 1–3, two of them blind and a third who settles; reports are checked "
        "criterion by criterion. As in ResearcherBench.",
        "profile-rubrics",
        (Kind.RUBRIC,),
        ("researcherbench.coverage", "researcherbench.claims"),
    ),
    ProfileChoice(
        "plans",
        "Plans, evidence and diagnostics",
        "A question, its plan of work, the papers it rests on, and true and false statements. As in ADRA.",
        "profile-plans",
        (Kind.QUERY, Kind.PLAN, Kind.EVIDENCE, Kind.DIAGNOSTICS),
        ("adra.plan", "adra.retrieval", "adra.reasoning", "adra.efficiency", "adra.preference"),
    ),
    ProfileChoice(
        "related-work",
        "Related-work sections",
        "Sections of papers, their facts, references and citations. As in DeepScholar-Bench.",
        "profile-related-work",
        (Kind.EVIDENCE, Kind.NUGGETS),
        (
            "deepscholar.organization",
            "deepscholar.nuggets",
            "deepscholar.relevance",
            "deepscholar.references",
            "deepscholar.precision",
            "deepscholar.coverage",
            "deepscholar.nugget_importance",
            "deepscholar.reference_importance",
        ),
    ),
    ProfileChoice(
        "seminars",
        "Tasks from seminars",
        "Transcripts, inspirations, tasks ranked against each other, checklists. As in DeepResearch Arena.",
        "profile-seminars",
        (Kind.INSPIRATIONS, Kind.TASKS, Kind.CHECKLIST),
        (
            "arena.checklist",
            "arena.keypoints",
            "arena.keypoints.common",
            "arena.references",
            "arena.leakage",
        ),
    ),
)
USUAL = CHOICES[0].name
# Every kind and protocol.
ALL = "all"
# Only the kinds and protocols of the project's contents.
HELD = "held"


def parsed(text: str) -> Profile:
    """The profile of names, separated by commas or blanks; Refusal that lists the valid names.

    A kind of document adds the protocols that need it, a protocol the kinds that it needs.
    """
    from annotator.protocols import PROTOCOLS

    names = text.replace(",", " ").split()
    profile = Profile(frozenset(), frozenset(), " ".join(names))
    choices = {choice.name: choice for choice in CHOICES}
    kinds = {kind.value for kind in Kind}
    for name in names:
        if name in choices:
            profile = profile.with_(choices[name].kinds, choices[name].protocols)
        elif name == ALL:
            profile = profile.with_(set(Kind) - {Kind.LABELS})
        elif name in kinds:
            profile = profile.with_([Kind(name)], bring=[Kind(name)])
        elif name in PROTOCOLS:
            profile = profile.with_(PROTOCOLS[name].needs, [name])
        elif name != HELD:
            known = (*choices, *sorted(kinds), *PROTOCOLS, ALL)
            raise Refusal(
                f"“{name[:80]}” is nothing that a project can use.", f"Available: {', '.join(known)}."
            )
    return profile


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition under which a model writes: whose prompts, and which request parameters beside its own."""

    name: str
    title: str
    suffix: str = ""
    parameters: str = ""

    def prompt(self, name: str) -> str:
        return f"{name}{self.suffix}"


# The first is the default.
CONDITIONS = (
    Condition("brief", "Brief: no longer than the question needs"),
    Condition(
        "researcherbench",
        "ResearcherBench (appendix D): comprehensive, with numbered citations",
        suffix=".researcherbench",
    ),
    Condition("adra", "ADRA (appendix K.1): brief, at temperature 0", parameters='{"temperature": 0}'),
)
