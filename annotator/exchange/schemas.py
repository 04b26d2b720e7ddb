"""The published JSON Schemas, generated from the record classes so that the two never differ.

`python -m annotator.exchange.schemas` writes them again.
"""

from pathlib import Path

from pydantic import TypeAdapter

from annotator import places
from annotator.domain.judges.validation import ValidityCard
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.exchange.folders import pretty
from annotator.exchange.formats.mappings import TablesMapping
from annotator.exchange.release.bundle import CLASSES
from annotator.exchange.release.records import FORMAT, FORMAT_VERSION, Manifest

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def all_schemas() -> dict[str, bytes]:
    """Every schema by file name: of a release's files, of each kind of document, of a card and of a mapping."""
    trees = {
        record.FILE.removesuffix(".json"): TypeAdapter(list[record]).json_schema()  # type: ignore[valid-type]
        for record in CLASSES.values()
    }
    trees["manifest"] = Manifest.model_json_schema()
    trees["mapping.schema"] = TablesMapping.model_json_schema()
    trees["validity_card"] = ValidityCard.model_json_schema()
    trees |= {f"document-{kind.value}": cls.model_json_schema() for kind, cls in DOCUMENTS.items()}
    urn = f"urn:{FORMAT}:{FORMAT_VERSION}"
    return {
        f"{name}.json": pretty({**tree, "$schema": DIALECT, "$id": f"{urn}:{name}", "title": name})
        for name, tree in trees.items()
    }


def write(folder: Path) -> None:
    """Write every schema into the folder and delete those that no longer exist."""
    made = all_schemas()
    for path in folder.glob("*.json"):
        if path.name not in made:
            path.unlink()
    for name, content in made.items():
        (folder / name).write_bytes(content)


if __name__ == "__main__":
    write(places.schemas())
