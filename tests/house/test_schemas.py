"""The published schemas are those of the record classes, and what is exported fits them."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from annotator.exchange import schemas
from annotator.places import schemas as folder
from tests.material.bundles import rich_bundle, write_release

SAMPLE = Path(__file__).parents[2] / "exports" / "sample"


def schema(name: str) -> Any:
    return json.loads((folder() / f"{name}.json").read_text("utf-8"))


def check(tree: Any, name: str) -> None:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.Draft202012Validator(schema(name), format_checker=checker).validate(tree)


def test_the_committed_schemas_are_those_of_the_classes() -> None:
    committed = {path.name: path.read_bytes() for path in folder().glob("*.json")}
    assert committed == schemas.all_schemas(), "run `python -m annotator.exchange.schemas`"


def test_writing_takes_out_a_schema_that_is_no_longer_made(tmp_path: Path) -> None:
    (tmp_path / "gone.json").write_text("{}", "utf-8")
    schemas.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == schemas.all_schemas().keys()


@pytest.mark.parametrize("path", sorted(folder().glob("*.json")), ids=lambda path: path.stem)
def test_every_schema_is_valid_itself(path: Path) -> None:
    tree = json.loads(path.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(tree)
    assert tree["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("exported", ["written", "committed"])
def test_exported_files_fit_the_schemas(tmp_path: Path, exported: str) -> None:
    """One of everything but the work in pairs, and the sample, which has it."""
    release = write_release(tmp_path / "out") if exported == "written" else SAMPLE
    checked = 0
    for path in {*release.rglob("*.json")} - {release / "croissant.json"}:
        tree = json.loads(path.read_text("utf-8"))
        check(tree, path.parent.name if path.parent != release else path.stem)
        if path.parent.name == "artifacts":
            for record in tree:
                check(record["document"], f"document-{record['kind']}")
        checked += 1
    assert checked == {"written": 17, "committed": 29}[exported]
    assert rich_bundle().counts()["artifacts"] == 2


def test_a_schema_refuses_what_the_classes_refuse() -> None:
    tree = {"units": [{"id": "c", "text": "x", "weight": 4000}]}
    with pytest.raises(jsonschema.ValidationError, match="4000 is greater than the maximum"):
        check(tree, "document-rubric")
    with pytest.raises(jsonschema.ValidationError, match="Additional properties"):
        check([{"id": "i", "key": "k", "question": "q", "mood": 1}], "items")
