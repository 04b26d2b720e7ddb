"""Evidence in bulk: references from lists, files, the item's own sources, previewed and then taken in one act."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotator.actions.authoring import annotating, artifacts
from annotator.actions.items import sources
from annotator.actions.material.drafting_by_model import blank_unit
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.kinds.evidence import Reference, work_keys
from annotator.domain.material.source import Source, SourceFormat, SourceKind
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.domain.texts.identifier import different_works, work_named
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.formats import bibliographies
from annotator.exchange.formats.bibliographies import Bibliography, ReadEntry
from annotator.exchange.texts import documents

IMPORTED = "import references"


@dataclass(frozen=True, slots=True)
class OfferedReference:
    """An entry to be taken: where it stands, its words, and why there is nothing to take, if so.

    `doubt` is a reason why it may be read wrongly; such an entry is taken only where a person says so.
    """

    place: str
    said: str
    reference: Reference | None
    why: str = ""
    repeats: str = ""
    doubt: str = ""

    @property
    def fresh(self) -> bool:
        """Whether it is read without a doubt and not there yet."""
        return self.reference is not None and not self.repeats and not self.doubt

    @property
    def doubtful(self) -> bool:
        """Whether it is read with a doubt and not there yet."""
        return self.reference is not None and not self.repeats and bool(self.doubt)

    def words(self) -> str:
        """The entry in a line."""
        found = self.reference
        named = " ".join(self.said.split())
        if found is not None:
            named = ". ".join(
                filter(None, (found.text, found.authors, str(found.year or ""), found.identifier))
            )
        marks = {
            f"repeats {self.repeats}: ": self.repeats,
            f"not read ({self.place}: {self.why.rstrip('.')}): ": self.why,
            f"doubtful, {self.doubt} ({self.place}): ": self.doubt,
        }
        return next((mark for mark, holds in marks.items() if holds), "") + named


@dataclass(frozen=True, slots=True)
class EvidenceOffer:
    """What a text or a source offers as references, and as what it was read."""

    form: str
    entries: tuple[OfferedReference, ...]

    @property
    def fresh(self) -> tuple[Reference, ...]:
        """The references that are not there yet and leave no doubt."""
        return tuple(one.reference for one in self.entries if one.fresh and one.reference is not None)

    @property
    def doubtful(self) -> tuple[Reference, ...]:
        """The references that are not there yet and may be read wrongly."""
        return tuple(one.reference for one in self.entries if one.doubtful and one.reference is not None)

    def words(self) -> str:
        repeated = sum(bool(one.repeats) for one in self.entries)
        unread = sum(one.reference is None for one in self.entries)
        told = (
            f"{len(self.fresh):,} new",
            f"{len(self.doubtful):,} doubtful" if self.doubtful else "",
            f"{repeated} repeated" if repeated else "",
            f"{unread} not read" if unread else "",
        )
        return f"{counted(len(self.entries), 'entry', 'entries')} ({self.form}): {', '.join(filter(None, told))}."


def from_text(project: Project, item_id: str, text: str, name: str = "") -> EvidenceOffer:
    """The references of a pasted text or of a file's; what it is shows by itself."""
    return _offer(project, item_id, bibliographies.read(text, name))


def from_file(project: Project, item_id: str, path: Path) -> EvidenceOffer:
    """The references of a file; of a PDF, those of its own list."""
    content = documents.read(path)
    if content.startswith(b"%PDF-"):
        return _offer(project, item_id, _listed([_laid_out(content, path.name)]))
    return from_text(project, item_id, documents.plain_text(content, path.name), path.name)


def from_sources(project: Project, item_id: str) -> EvidenceOffer:
    """The references in the lists at the end of the item's sources."""
    beside = [source for source in sources.sources(project, item_id) if not source.drafted]
    files = {one.id: sources.file_bytes(project, one.id) for one in beside if one.format is SourceFormat.PDF}
    texts = (_laid_out(content, one.title) if (content := files.get(one.id)) else one.text for one in beside)
    return _offer(project, item_id, _listed(texts))


def the_source_itself(project: Project, item_id: str) -> EvidenceOffer:
    """The item's sources as references: the gold evidence of a research paper."""
    beside = [source for source in sources.sources(project, item_id) if not source.drafted]
    if not beside:
        raise Refusal("The item has no source.", "Add the paper beside the item first.")
    found = tuple(
        ReadEntry(f"source {place}", one.title, _as_reference(one))
        for place, one in enumerate(beside, start=1)
    )
    return _offer(project, item_id, Bibliography("the source itself", found))


def of_research(project: Project, item_id: str) -> bool:
    """Whether the item's sources are research papers, whose evidence is the source itself."""
    kinds = {source.kind for source in sources.sources(project, item_id)} - {SourceKind.UNKNOWN}
    return kinds == {SourceKind.RESEARCH}


def take(project: Project, item_id: str, references: Sequence[Reference], form: str) -> Change:
    """Put references into the person's own evidence, begun where it is lacking, in one act that can be undone."""
    if not references:
        raise Refusal("There is nothing new to take.", "Nothing was changed.")
    given = [
        one.model_dump(mode="json", include={"text", "identifier", "authors", "year"}) for one in references
    ]
    with project.store.write():
        own = own_evidence(project, item_id)
        artifact_id = own.id if own else artifacts.start(project, item_id, Kind.EVIDENCE).subject
        return artifacts.add_units(
            project, artifact_id, given, instead_of=blank_unit(own.document) if own else "", verb=IMPORTED,
            about={"imported": {"form": form, "count": len(given)}},
        )  # fmt: skip


def own_evidence(project: Project, item_id: str) -> Artifact | None:
    """The evidence that the person working is writing for an item, if there is any."""
    me = people.someone(project).id
    found = (one for one in annotating.artifacts_of(project, item_id) if one.kind is Kind.EVIDENCE)
    return next((one for one in found if one.author_id == me and one.state is not State.CONSENSUS), None)


def _laid_out(content: bytes, name: str) -> str:
    from annotator.exchange.pages import worker

    return worker.pdf_text(content, name, layout=True)


def _listed(texts: Iterable[str]) -> Bibliography:
    found = [bibliographies.own_list(text) for text in texts]
    entries = tuple(entry for one in found for entry in one.entries)
    if not entries:
        raise Refusal(
            "No list of references was found.",
            "Looked for was a heading such as References or Bibliography with entries below it. A scanned PDF has no "
            "text; paste the list or give it as a file.",
        )
    return Bibliography(found[0].form, entries)


def _as_reference(source: Source) -> Reference:
    named = str(work_named(source.identifier) or "") or source.identifier
    return Reference(
        text=source.title, identifier=named, year=int(source.published[:4]) if source.published else None
    )


def _offer(project: Project, item_id: str, read: Bibliography) -> EvidenceOffer:
    own = own_evidence(project, item_id)
    known: list[tuple[str, Reference]] = [
        (f"reference {number}", unit)
        for number, unit in enumerate(own.document.units if own else (), start=1)
    ]
    found = []
    for entry in read.entries:
        repeats = _repeated(entry.reference, known) if entry.reference else ""
        found.append(
            OfferedReference(entry.place, entry.said, entry.reference, entry.why, repeats, entry.doubt)
        )
        if entry.reference and not repeats and not entry.doubt:
            known.append((entry.place, entry.reference))
    return EvidenceOffer(read.form, tuple(found))


def _repeated(reference: Reference, known: Collection[tuple[str, Reference]]) -> str:
    """Where the same work stands already; two with different DOIs are different works, whatever their titles."""
    keys, named = set(work_keys(reference)), work_named(reference.identifier)
    return next(
        (
            place
            for place, other in known
            if keys & set(work_keys(other)) and not different_works(named, work_named(other.identifier))
        ),
        "",
    )
