"""Writing and reading a release: Goldsmith's own layout, the same bytes for the same content."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from annotator import __version__
from annotator.domain.common import Refusal, canonical_json, derived_id, grouped, required, sha256
from annotator.domain.experts.publication import ItemChecks, Publication, ReleaseMetadata, SplitAccess
from annotator.domain.judges.judge import Status
from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.exchange.folders import (
    LARGEST_FILE,
    Content,
    Files,
    known_by,
    parse,
    pieces_of,
    pretty,
    pretty_list,
    read_bytes,
    slugs,
    with_sums,
)
from annotator.exchange.release.bundle import (
    CLASSES,
    Bundle,
    BundleReader,
    Problem,
    Spool,
    in_words,
    laid_aside,
    record_id,
    retyped,
    trees,
)
from annotator.exchange.release.data_card import ReleaseFacts
from annotator.exchange.release.encryption import Encryption, decrypted
from annotator.exchange.release.records import (
    FORMAT,
    FORMAT_VERSION,
    LEFT_OUT_EMPTY,
    AgreementRecord,
    ArtifactRecord,
    FileRecord,
    ItemRecord,
    JudgementRecord,
    Manifest,
    Record,
    RevisionRecord,
    check,
)

MANIFEST, CROISSANT = Manifest.FILE, "croissant.json"
# The file in place of README.md in earlier releases.
OLD_CARD = "data_card.md"
# The first part of a file's path → the thing whose records it holds.
THING_OF = {cls.FILE.removesuffix(".json"): thing for thing, cls in CLASSES.items()}
# A million judgements are one file, and so are all the inputs of agreement.
LARGE = (
    "judgements.json", "revisions.json", "agreement.json", "adjudications.json", "extracts.json", "pages.json",
    "validation_sets.json", "informed.json", "contest_matches.json",
)  # fmt: skip
LARGEST = dict.fromkeys(LARGE, 512 * 1024 * 1024)
LAYOUT = re.compile(
    "|".join(
        [re.escape(cls.FILE) for cls in CLASSES.values() if cls.FILE.endswith(".json")]
        + [re.escape(OLD_CARD), r"responses/[A-Za-z0-9._-]+\.json", r"artifacts/[a-z]+\.json"]
    )
)
NEWER_FILE = re.compile(r"[a-z0-9_-]{1,60}\.json")
VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})")
AGAIN = "Get the release again; nothing was changed."


def content(bundle: Bundle, facts: ReleaseFacts) -> tuple[dict[str, Content], Manifest]:
    """The files that the manifest lists, and the manifest; the release's number and date are in none of them."""
    bundle, encryption = ordered(bundle), facts.encryption
    records = _by_file(bundle)
    parts: dict[str, Content] = {
        path: pretty_list(partial(_trees, path, those, encryption)) for path, those in records.items()
    }
    if bundle.judgements:
        parts[JudgementRecord.FILE] = laid_aside(pieces_of(parts[JudgementRecord.FILE]), "judgements")
    listed = [
        FileRecord(
            path=path,
            sha256=known_by(parts[path])[0],
            bytes=known_by(parts[path])[1],
            records=len(records[path]) if path in records else None,
        )
        for path in sorted(parts)
    ]
    publication, final_pass = facts.publication, dict(facts.final_pass)
    metadata = publication.metadata
    if encryption:
        publication, final_pass = _encrypted(publication, final_pass, encryption)
    manifest = Manifest(
        title=facts.title, licence=metadata.licence, description=metadata.description, publication=publication,
        test_items="" if facts.access is SplitAccess.AS_IS else facts.access.value,
        weights=facts.weights, error_sample=facts.error_sample, unadjudicated=facts.unadjudicated,
        rubric_set=facts.rubric_set,
        awaited=dict(facts.awaited), final_pass=final_pass,
        drawn_pairs=dict(facts.drawn_pairs),
        number=facts.number, app_version=__version__, counts=bundle.counts(), files=listed,
        drafted={one.artifact_id: one.units for one in facts.drafted},
    )  # fmt: skip
    return parts, manifest


def _trees(
    path: str, records: Iterable[Record], encryption: Encryption | None
) -> Iterable[Mapping[str, Any]]:
    made = trees(records)
    return (encryption.record(tree, path) for tree in made) if encryption else made


def _encrypted(
    publication: Publication, final_pass: dict[str, ItemChecks], encryption: Encryption
) -> tuple[Publication, dict[str, ItemChecks]]:
    """The manifest's words about items, encrypted: changes in corrections, and notes of the final pass."""
    errata = tuple(
        erratum.model_copy(update={"changes": tuple(encryption.value(erratum.changes))})
        for erratum in publication.errata
    )
    checks = {
        item_id: {
            name: check.model_copy(update={"note": encryption.value(check.note)})
            for name, check in signed.items()
        }
        if item_id in encryption.items
        else signed
        for item_id, signed in final_pass.items()
    }
    return publication.model_copy(update={"errata": errata}), checks


def complete(parts: Files, manifest: Manifest) -> dict[str, Content]:
    return with_sums({**parts, MANIFEST: pretty(manifest.model_dump(mode="json"))})


def content_sha256(manifest: Manifest) -> str:
    """The hash that identifies releases of the same content: of the manifest without its number."""
    return sha256(canonical_json(manifest.model_dump(mode="json", exclude={"number"})))


def ordered(bundle: Bundle) -> Bundle:
    """The bundle with its records in the release's order: items in the project's, everything else by them."""
    rank = ranked(bundle.items)
    return Bundle(
        people=sorted(bundle.people, key=lambda r: (r.alias, r.id)),
        items=sorted(bundle.items, key=lambda r: rank[r.id]),
        sources=sorted(bundle.sources, key=lambda r: (rank[r.item_id], r.position, r.id)),
        systems=sorted(bundle.systems, key=lambda r: (r.name, r.id)),
        responses=sorted(
            bundle.responses, key=lambda r: (rank[r.item_id], r.system_id, r.mode, r.trial, r.id)
        ),
        guidelines=sorted(bundle.guidelines, key=lambda r: (r.stage.value, r.version)),
        artifacts=sorted(bundle.artifacts, key=lambda r: (rank[r.item_id], r.kind.value, r.author_id, r.id)),
        revisions=sorted(
            bundle.revisions,
            key=lambda r: (rank[r.item_id], r.kind.value, r.author_id, r.artifact_id, r.revision),
        ),
        agreements=sorted(bundle.agreements, key=lambda r: (rank[r.item_id], r.stage.value, r.id)),
        adjudications=sorted(
            bundle.adjudications, key=lambda r: (rank[r.item_id], r.stage.value, r.version, r.id)
        ),
        judges=sorted(bundle.judges, key=lambda r: (r.name, r.id)),
        runs=sorted(bundle.runs, key=lambda r: (r.started_at, r.id)),
        extracts=sorted(
            bundle.extracts, key=lambda r: (rank[r.item_id], r.response_id, r.kind, r.origin, r.id)
        ),
        pages=sorted(bundle.pages, key=lambda r: r.url),
        prompts=sorted(bundle.prompts, key=lambda r: r.name),
        judgements=_in_order(bundle.judgements, rank),
        validation_sets=sorted(bundle.validation_sets, key=lambda r: (r.at, r.name)),
        informed=sorted(bundle.informed, key=lambda r: (r.kind.value, r.protocol, rank[r.item_id], r.id)),
        matches=sorted(bundle.matches, key=lambda r: (r.rater_name, r.rater, r.round, r.first, r.second)),
        ratings=sorted(bundle.ratings, key=lambda r: (r.rater, r.rank, r.task_id)),
        decisions=sorted(bundle.decisions, key=lambda r: (r.task, r.task_id)),
        metrics=sorted(bundle.metrics, key=lambda r: (r.protocol, r.metric)),
        scores=sorted(bundle.scores, key=lambda r: (r.protocol, r.metric, r.rater, r.group, r.system)),
    )


def _in_order(
    judgements: Collection[JudgementRecord], rank: Mapping[str, int]
) -> Collection[JudgementRecord]:
    if isinstance(judgements, Spool):
        return judgements
    return sorted(
        judgements,
        key=lambda r: (
            r.protocol,
            rank[r.item_id],
            r.response_id,
            r.unit_id,
            r.rater_kind.value,
            r.rater_id,
            r.trial,
        ),
    )


def ranked(items: Iterable[ItemRecord]) -> dict[str, int]:
    ordered_items = sorted(items, key=lambda r: (r.position, r.key, r.id))
    return {item.id: place for place, item in enumerate(ordered_items)}


def _by_file(bundle: Bundle) -> dict[str, list[Any]]:
    whole: dict[str, list[Any]] = {
        cls.FILE: getattr(bundle, thing)
        for thing, cls in CLASSES.items()
        if cls.FILE.endswith(".json") and (getattr(bundle, thing) or cls.FILE not in LEFT_OUT_EMPTY)
    }
    stems = slugs(system.name for system in bundle.systems)
    path_of = {system.id: f"responses/{stems[system.name].lower()}.json" for system in bundle.systems}
    responses = grouped((path_of[response.system_id], response) for response in bundle.responses)
    artifacts = grouped((f"artifacts/{artifact.kind.value}.json", artifact) for artifact in bundle.artifacts)
    return whole | responses | artifacts


def read(paths: Sequence[Path]) -> tuple[Bundle, list[Problem]]:
    """The content of a release folder, or of a folder written by hand in its layout, and its problems.

    With a manifest every file must be the one it lists; without one, any existing files of the layout are read.
    Refusal if that fails, or if the format is newer.
    """
    if len(paths) != 1:
        raise Refusal("A release is one folder.", f"Choose the folder that holds {MANIFEST} or items.json.")
    folder = paths[0] if paths[0].is_dir() else paths[0].parent
    contents = _contents(folder)
    manifest = _manifest(folder)
    laid_out = {cls.FILE for cls in CLASSES.values()} | {MANIFEST, CROISSANT}
    strays = sorted(path.name for path in folder.glob("*.json") if path.name not in laid_out)
    newer = manifest is not None and _version(manifest.format_version) > _version(FORMAT_VERSION)
    if manifest:
        _verify(folder, manifest, contents, newer=newer)
    reader = _Reader(lenient=newer, released=manifest is not None)
    canary = manifest.publication.canary if manifest else ""
    for path, content in contents.items():
        reader.read_file(path, decrypted(content, canary))
    if manifest:
        reader.bundle.manifest = manifest.model_copy(update={"publication": _publication(manifest)})
        reader.bundle.rubric_set = manifest.rubric_set
    unread = "is not a file of this layout and was not read"
    return reader.bundle, [*(Problem(name, None, unread, note=True) for name in strays), *reader.problems]


def _contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every existing file of the layout, each after those it refers to."""
    result: dict[str, bytes] = {}
    for cls in CLASSES.values():
        single = [folder / cls.FILE] if (folder / cls.FILE).is_file() else []
        for path in single or sorted((folder / cls.FILE).glob("*.json")):
            name = path.relative_to(folder).as_posix()
            result[name] = read_bytes(path, name, LARGEST.get(name, LARGEST_FILE))
    if not result:
        raise Refusal(
            f"“{folder.name}” holds no file of a Goldsmith release.", "Choose the folder with items.json."
        )
    return result


def _manifest(folder: Path) -> Manifest | None:
    if not (folder / MANIFEST).is_file():
        return None
    tree = parse(read_bytes(folder / MANIFEST, MANIFEST), MANIFEST)
    if not isinstance(tree, dict) or tree.get("format") != FORMAT:
        raise Refusal(f"“{MANIFEST}” is not that of a Goldsmith release.", "Choose another folder.")
    major, minor = _version(str(tree.get("format_version")))
    if major > _version(FORMAT_VERSION)[0]:
        raise Refusal(
            f"This release is of format {major}.{minor}; it needs a newer Goldsmith.",
            f"This one reads formats up to {FORMAT_VERSION.split('.')[0]}.x; nothing was changed.",
        )
    known = {key: value for key, value in tree.items() if key in Manifest.model_fields}
    try:
        manifest = Manifest.model_validate_json(orjson.dumps(known), strict=True)
        plain = decrypted(orjson.dumps(known), manifest.publication.canary)
        return Manifest.model_validate_json(plain, strict=True)
    except ValidationError as error:
        raise Refusal(f"“{MANIFEST}”: {in_words(error)}.", AGAIN) from None


def canaries_of(paths: Iterable[Path]) -> Iterator[str]:
    """The canaries of the releases whose manifests are among these files."""
    for path in paths:
        if path.name == MANIFEST:
            with suppress(Refusal):
                if (manifest := _manifest(path.parent)) is not None:
                    yield manifest.publication.canary


def _publication(manifest: Manifest) -> Publication:
    """The metadata of the release; an earlier one had its licence and description alone."""
    if manifest.publication.metadata != ReleaseMetadata():
        return manifest.publication
    known = ReleaseMetadata(licence=manifest.licence, description=manifest.description)
    return manifest.publication.model_copy(update={"metadata": known})


def _version(text: str) -> tuple[int, int]:
    numbers = required(VERSION.fullmatch(text), f"“{text[:40]}” is not a format version.", AGAIN)
    return int(numbers[1]), int(numbers[2])


def _verify(folder: Path, manifest: Manifest, contents: Mapping[str, bytes], *, newer: bool) -> None:
    """Refusal unless every file is the one that the manifest lists; a newer format may list files of its own."""
    listed = {file.path: file for file in manifest.files}
    strange = [
        path for path in listed if not (LAYOUT.fullmatch(path) or (newer and NEWER_FILE.fullmatch(path)))
    ]
    if strange:
        raise Refusal(f"“{MANIFEST}” lists “{strange[0][:80]}”, which is no file of a release.", AGAIN)
    if len({path.casefold() for path in listed}) != len(manifest.files):
        raise Refusal(f"“{MANIFEST}” lists a file twice.", AGAIN)
    unlisted = sorted(contents.keys() - listed.keys())
    if unlisted:
        raise Refusal(f"“{unlisted[0]}” is not listed in {MANIFEST}.", AGAIN)
    for path, file in listed.items():
        content = contents[path] if path in contents else read_bytes(folder / path, path)
        if len(content) != file.bytes or sha256(content) != file.sha256:
            raise Refusal(f"“{path}” is not the file that {MANIFEST} lists: its checksum differs.", AGAIN)


class _Reader(BundleReader):
    def __init__(self, *, lenient: bool, released: bool) -> None:
        """`lenient`: a newer format may hold more. `released`: Goldsmith wrote it, so its faults are only noted."""
        super().__init__()
        self.lenient = lenient
        self.released = released

    def read_file(self, path: str, content: bytes) -> None:
        thing = THING_OF[path.split("/")[0].removesuffix(".json")]
        with self.reporting(path):
            tree = parse(content, path, LARGEST.get(path, LARGEST_FILE))
            if not isinstance(tree, list):
                self.problem(path, None, "should be a list of records")
                return
            for index, raw in enumerate(tree):
                if record := self._record(path, index, raw, CLASSES[thing]):
                    getattr(self.bundle, thing).append(record)
                    self.bundle.places.setdefault((thing, record_id(record)), (path, index))
                    for one in record.assisted if isinstance(record, AgreementRecord) else ():
                        self.bundle.places.setdefault(("pairings", one.id), (path, index))

    def _record(self, path: str, index: int, raw: Any, cls: type[Record]) -> Record | None:
        try:
            record = cls.model_validate_json(orjson.dumps(self._known(path, index, raw, cls)), strict=True)
            if isinstance(record, ArtifactRecord):
                return self._artifact(record, path, index)
            if isinstance(record, RevisionRecord):
                return _checked_revision(record)
            if isinstance(record, JudgementRecord) and (record.status is Status.OK) is (record.value is None):
                raise ValueError("a judgement has a value when its status is ok, and only then")
            check(record)
        except ValueError as error:
            self.problem(path, index, in_words(error))
        else:
            return record
        return None

    def _artifact(self, record: ArtifactRecord, path: str, index: int) -> ArtifactRecord | None:
        """The artifact with its document complete; ValueError states its fault.

        None, with a problem, if it could not have been submitted; in a release that is only noted.
        """
        document = _checked_document(record.kind, record.document, record.id, record.sha256)
        if path != f"artifacts/{record.kind.value}.json":
            raise ValueError(f"a {record.kind.value} does not belong into this file")
        if fault := document.fault():
            self.problems.append(Problem(path, index, fault, note=self.released))
            if not self.released:
                return None
        return record.model_copy(update={"document": document.tree(), "sha256": document.sha256()})

    def _known(self, path: str, index: int, raw: Any, cls: type[Record]) -> Any:
        """The entry without fields that only a newer minor format knows."""
        if not self.lenient or not isinstance(raw, dict):
            return raw
        unknown = sorted(raw.keys() - cls.model_fields.keys())
        if unknown:
            self.note(path, f"“{', '.join(unknown)}” comes from a newer format and was not read", index)
        return {key: value for key, value in raw.items() if key not in unknown}


def _checked_revision(record: RevisionRecord) -> RevisionRecord:
    """The revision with its document complete, if it has one; ValueError states its fault."""
    if record.document is None:
        return record
    document = _checked_document(record.kind, record.document, record.artifact_id, record.sha256)
    return record.model_copy(update={"document": document.tree(), "sha256": document.sha256()})


def _checked_document(kind: Kind, raw: dict[str, Any], artifact_id: str, digest: str) -> Document[Any]:
    """The typed document of a record's tree; ValueError if it does not match its checksum, or is invalid."""
    document = DOCUMENTS[kind].model_validate_json(
        orjson.dumps(_with_unit_ids(raw, artifact_id)), strict=True
    )
    if wrong := retyped(raw, document.tree()):
        raise ValueError(f"“document.{wrong}” is of the wrong type")
    if len({unit.id for unit in document.units}) != len(document.units):
        raise ValueError("two units have the same id")
    if digest not in (document.sha256(), sha256(canonical_json(raw))):
        raise ValueError("the document is not the one its checksum was made of")
    return document


def _with_unit_ids(raw: dict[str, Any], artifact_id: str) -> dict[str, Any]:
    """The document with ids for units written by hand without one, the same at every reading."""
    units = raw.get("units")
    if not isinstance(units, list):
        return raw
    named = [
        {"id": derived_id(artifact_id, place), **unit} if isinstance(unit, dict) else unit
        for place, unit in enumerate(units)
    ]
    return {**raw, "units": named}
