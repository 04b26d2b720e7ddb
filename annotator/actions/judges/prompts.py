"""Prompts of a project: the shipped ones first, then the coordinator's versions."""

from dataclasses import dataclass
from functools import cache

from pydantic import ValidationError

from annotator.actions.project import people, profile
from annotator.actions.project.file import Project, record
from annotator.domain.common import Change, Refusal, derived_id, now, refuse_other
from annotator.domain.judges.protocol import SHIPPED, Extraction, PromptVersion, Protocol
from annotator.judging.messages import Prompt, parse
from annotator.places import resources
from annotator.protocols import EXTRACTIONS, PROTOCOLS

# The prefix of the settings that hold the written versions of a prompt, oldest first.
SETTING = "prompt/"
# The name of a shipped wording that comes first, and the mark before the name of another in its file's name.
USUAL, OTHER = "as shipped", "~"


def asking(project: Project | None = None) -> tuple[Protocol | Extraction, ...]:
    """The protocols and extractions that ask models, as a project uses them, or all of them."""
    tables = (
        (profile.protocols(project), profile.extractions(project)) if project else (PROTOCOLS, EXTRACTIONS)
    )
    return tuple(one for table in tables for one in table.values())


@dataclass(frozen=True, slots=True)
class PromptLine:
    """A prompt and its uses; `version` is the current one, `edited` if it differs from the shipped text."""

    name: str
    protocol: str
    title: str
    version: int
    edited: bool


def listed(project: Project) -> list[PromptLine]:
    return [
        PromptLine(name, protocol.name, protocol.title, current.version, current.text != shipped(name))
        for protocol in asking(project)
        for name in protocol.prompts
        for current in [in_force(project, name)]
    ]


def versions(project: Project, name: str) -> list[PromptVersion]:
    """Every version of a prompt, the shipped one first, the one in force last; raises Refusal for an unknown name."""
    written = (PromptVersion.model_validate(tree) for tree in project.get(SETTING + name, []))
    return [PromptVersion(name=name, version=SHIPPED, text=shipped(name)), *written]


def in_force(project: Project, name: str) -> PromptVersion:
    return versions(project, name)[-1]


def shipped(name: str) -> str:
    """The shipped wording; raises Refusal for an unknown name."""
    if name not in _names():
        raise Refusal(f"There is no prompt “{name}”.", "Choose one from the list.")
    return _text(name)


def wordings(name: str) -> dict[str, str]:
    """The shipped wordings of a prompt, by name; the first is the default."""
    folder = resources() / "prompts"
    others = sorted(path.stem.partition(OTHER)[2] for path in folder.glob(f"{name}{OTHER}*.md"))
    return {USUAL: shipped(name)} | {other: _text(f"{name}{OTHER}{other}") for other in others}


def use(project: Project, name: str, wording: str) -> Change:
    """Put another shipped wording in force, as a version of its own; earlier verdicts keep theirs."""
    known = wordings(name)
    refuse_other(wording, known, f"“{name}” has no wording “{wording}”.", "There are:")
    return write(project, name, known[wording], wording)


@people.for_coordinators("can change a prompt")
def write(project: Project, name: str, text: str, note: str = "") -> Change:
    """Put a wording in force, with a note of why; answers to the former one do not count as answers to it.

    Raises Refusal for a wording that judges cannot be asked by, and for the one in force.
    """
    known = versions(project, name)
    if text == known[-1].text:
        raise Refusal("That is already the current wording.", "Nothing was changed.")
    if result := faults(name, text):
        raise Refusal(result[0], "Fix it first; nothing was changed.", tuple(result))
    number = known[-1].version + 1
    version = PromptVersion(name=name, version=number, text=text, note=note.strip(), by=project.by, at=now())
    written = [one.model_dump(mode="json") for one in (*known[1:], version)]
    with project.store.write() as db:
        project.set(SETTING + name, written)
        after = {"name": name, "version": number, "sha256": version.sha256, "note": version.note}
        subject = derived_id("prompt", name, version.version)
        return record(project, db, Change("prompt", subject, "write prompt", None, after))


def faults(name: str, text: str) -> list[str]:
    """Why judges cannot be asked by a wording, in sentences; empty if they can.

    A wording must have the two parts, and exactly the placeholders of the shipped one: those and no others are filled.
    """
    try:
        PromptVersion(name=name, version=SHIPPED, text=text)
        result = parse(name, text)
    except ValidationError as error:
        return [f"The wording does not fit: {error.errors()[0]['msg'].lower()}."]
    except ValueError:
        return [
            "It must contain a line “# system”, then a line “# user”, each once, and nothing before the "
            "first."
        ]
    places = parse(name, shipped(name)).placeholders
    lacking, strange = sorted(places - result.placeholders), sorted(result.placeholders - places)
    return [
        *(f"It lacks the placeholder  {_braced(one)}." for one in lacking),
        *(
            f"Unknown placeholder {_braced(one)}; available: {', '.join(map(_braced, sorted(places)))}."
            for one in strange
        ),
        *(f"The part “{part}” is empty." for part in ("system", "user") if not getattr(result, part)),
    ]


def places(name: str) -> list[str]:
    return sorted(parse(name, shipped(name)).placeholders)


def edited(project: Project) -> dict[str, Prompt]:
    """The prompts in force that differ from the shipped ones, by name: runs use them instead."""
    result = {name: in_force(project, name).text for name in sorted(_names())}
    return {name: parse(name, text) for name, text in result.items() if text != shipped(name)}


def _braced(name: str) -> str:
    return f"{{{{{name}}}}}"


@cache
def _names() -> frozenset[str]:
    return frozenset(name for protocol in asking() for name in protocol.prompts)


@cache
def _text(name: str) -> str:
    return (resources() / "prompts" / f"{name}.md").read_text("utf-8").replace("\r\n", "\n")
