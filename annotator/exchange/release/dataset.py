"""A release for other people's programs: flat rows as JSON Lines or Parquet, and cards that describe them.

`README.md` is read by Hugging Face, `croissant.json` by everything that reads Croissant, `CITATION.cff` by GitHub and
Zenodo. All of them are made from the files that the manifest lists; their sums are in `SHA256SUMS`.
"""

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import orjson

from annotator.domain.common import Refusal, canonical_json
from annotator.domain.experts.publication import LICENCES, Author, ReleaseMetadata, SplitAccess
from annotator.domain.judges.judge import RaterKind
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.exchange.folders import Content, Pieces, known_by, pieces_of, pretty, slug, stretches
from annotator.exchange.release import data_card
from annotator.exchange.release.bundle import Bundle, laid_aside, tally, trees
from annotator.exchange.release.data_card import ReleaseFacts
from annotator.exchange.release.encryption import DECODER, Encryption
from annotator.exchange.release.records import (
    ArtifactRecord,
    ExtractRecord,
    ItemRecord,
    JudgementRecord,
    ResponseRecord,
)
from annotator.exchange.release.release import CROISSANT, ordered
from annotator.places import resources

Row = dict[str, Any]
CARD, CHANGES, CITATION, LICENCE = "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE"
BLOCKED = "blocked_sources.txt"
SPLIT = "test"
# The number of rows produced at a time, and of those in a row group of a Parquet file.
AT_ONCE, ROW_GROUP = 1_000, 50_000
# Documents of people about an item by which no report is judged.
NO_GOLD = (Kind.RUBRIC, Kind.SELECTION, Kind.LABELS)
# Fields of a unit that have a column of their own, or that stay with its author.
OF_UNITS = ("id", "text", "note", "anchor", "more_anchors")
DTYPES = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}
# Stated, since `datasets` takes any text that looks like a timestamp for one.
DAY, MOMENT = "date32", "timestamp[us, tz=UTC]"
FORMATS = {"date": DAY, "date-time": MOMENT}
CROISSANT_TYPES = {
    "string": "sc:Text",
    "int64": "cr:Int64",
    "float64": "cr:Float64",
    "bool": "sc:Boolean",
    DAY: "sc:Date",
    MOMENT: "sc:DateTime",
}
# Hugging Face's names of licences, if not the SPDX identifier in small letters.
HUB_LICENCES = {"ODC-By-1.0": "odc-by", "ODbL-1.0": "odbl"}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
RAI = {
    "collection": "dataCollection",
    "uses": "dataUseCases",
    "limits": "dataLimitations",
    "biases": "dataBiases",
    "personal": "personalSensitiveInformation",
    "social_impact": "dataSocialImpact",
    "maintenance": "dataReleaseMaintenancePlan",
}


class Column(NamedTuple):
    """A column of flat rows: its name, its type in Hugging Face's terms, and its description."""

    name: str
    dtype: str
    about: str


@dataclass(frozen=True, slots=True)
class FlatTable:
    """Flat rows under a name; `key` is the column that identifies one."""

    name: str
    about: str
    key: str
    columns: tuple[Column, ...]
    rows: Callable[[], Iterable[Row]]
    count: int

    @property
    def path(self) -> str:
        return f"data/{self.name}.jsonl"


CANARY = Column("canary", "string", "Stands in every record; drop from a training corpus what contains it")
OF_ITEM = (Column("item_key", "string", "Key of the item"), Column("item_id", "string", "Its id"))
OF_DOCUMENT = (
    *OF_ITEM,
    Column("artifact_id", "string", "Id of the document that it is a unit of"),
    Column("position", "int64", "Its place in the document, from 0"),
    Column("unit_id", "string", "Its id; judgements name it"),
)
OF_RESPONSE = (
    Column("response_id", "string", "Id of the report"),
    *OF_ITEM,
    Column("system", "string", "Its name"),
)
QUOTE = Column("quote", "string", "What it leans on in a source, a line each")
JUDGED = (
    Column(
        "criterion", "string", "Words of the criterion or other unit; of a cell of a matrix those of both"
    ),
    Column("weight", "float64", "Weight of that unit, where it has one"),
    Column("rater", "string", "Name of the judge, or alias of the person"),
)


def tables(bundle: Bundle, facts: ReleaseFacts) -> list[FlatTable]:
    """Every table that has rows: items, criteria, the other gold by kind, responses, judgements."""
    gold = [_units(kind, f"gold_{kind.value}", bundle, facts) for kind in KINDS if kind not in NO_GOLD]
    made = [_items(bundle), _units(Kind.RUBRIC, "criteria", bundle, facts), *gold]
    return [table for table in (*made, _responses(bundle), _judgements(bundle)) if table.count]


def _columns(model: Any, left_out: Iterable[str], names: Mapping[str, str] = {}) -> dict[str, Column]:
    """A model's columns by field, under another name if `names` has one."""
    schema = model.model_json_schema()
    return {
        name: Column(names.get(name, name), _dtype(one, schema.get("$defs", {})), one.get("description", ""))
        for name, one in schema["properties"].items()
        if name not in left_out
    }


def _dtype(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """The type of a column; a value that is neither a text nor a number is written as JSON."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    either = {_dtype(one, definitions) for one in schema.get("anyOf", ()) if one.get("type") != "null"}
    plain = FORMATS.get(schema.get("format", "")) or DTYPES.get(schema.get("type", ""), "string")
    return next(iter(either)) if len(either) == 1 else plain


def _values(tree: Mapping[str, Any], columns: Mapping[str, Column]) -> Row:
    return {column.name: tree.get(name) for name, column in columns.items()}


def _items(bundle: Bundle) -> FlatTable:
    columns = _columns(ItemRecord, (), {"id": "item_id", "key": "item_key"})
    if all(re.fullmatch(r"\d{4}-\d\d-\d\d", record.collected) for record in bundle.items if record.collected):
        columns["collected"] = columns["collected"]._replace(dtype=DAY)
    rows = partial(map, lambda one: _values(one.model_dump(mode="json"), columns), bundle.items)
    return FlatTable("items", "Questions", "item_id", tuple(columns.values()), rows, len(bundle.items))


def _units(kind: Kind, name: str, bundle: Bundle, facts: ReleaseFacts) -> FlatTable:
    """The units of the documents of a kind by which reports are judged."""
    keys, spec = {item.id: item.key for item in bundle.items}, KINDS[kind]
    documents = [one for one in _documents(bundle) if one.kind == kind.value and one.id in facts.gold]
    words = Column(re.sub(r"\W", "", spec.unit), "string", f"Words of the {spec.unit}")
    columns = _columns(spec.document.UNIT, OF_UNITS)

    def rows() -> Iterator[Row]:
        for one in documents:
            for position, unit in enumerate(one.document["units"]):
                anchors = (unit.get("anchor"), *unit.get("more_anchors", ()))
                head = (keys[one.item_id], one.item_id, one.id, position, unit["id"], unit["text"])
                yield {
                    **dict(zip((column.name for column in (*OF_DOCUMENT, words)), head, strict=True)),
                    **_values(unit, columns),
                    QUOTE.name: "\n".join(anchor["quote"] for anchor in anchors if anchor),
                }

    count = sum(len(document.document["units"]) for document in documents)
    every_column = (*OF_DOCUMENT, words, *columns.values(), QUOTE)
    return FlatTable(name, spec.units.capitalize(), "unit_id", every_column, rows, count)


def _documents(bundle: Bundle) -> list[ArtifactRecord | ExtractRecord]:
    return [*bundle.artifacts, *bundle.extracts]


def _responses(bundle: Bundle) -> FlatTable:
    heads, columns = (
        _heads(bundle),
        _columns(ResponseRecord, ("id", "item_id", "system_id"), {"text": "report"}),
    )

    def rows() -> Iterator[Row]:
        for record in bundle.responses:
            yield heads[record.id] | _values(record.model_dump(mode="json"), columns)

    every_column = (*OF_RESPONSE, *columns.values())
    return FlatTable("responses", "Reports", "response_id", every_column, rows, len(bundle.responses))


def _heads(bundle: Bundle) -> dict[str, Row]:
    """For each response its id, and its item and system by name."""
    keys = {item.id: item.key for item in bundle.items}
    systems = {system.id: system.name for system in bundle.systems}
    names = [column.name for column in OF_RESPONSE]
    return {
        record.id: dict(
            zip(
                names,
                (record.id, keys[record.item_id], record.item_id, systems[record.system_id]),
                strict=True,
            )
        )
        for record in bundle.responses
    }


def _judgements(bundle: Bundle) -> FlatTable:
    heads, columns = _heads(bundle), _columns(JudgementRecord, ("item_id", "response_id"))
    of_judged = [column.name for column in JUDGED]
    raters = {record.id: record.alias for record in bundle.people} | {
        record.id: record.name for record in bundle.judges
    }
    units = {
        unit["id"]: (unit.get("text", ""), unit.get("weight", unit.get("share")))
        for one in _documents(bundle)
        for unit in one.document["units"]
    }

    def rows() -> Iterator[Row]:
        for tree in trees(bundle.judgements):
            own = tree["unit_id"]
            sides = [units[side] for side in ((own,) if own in units else own.split("~")) if side in units]
            words, weights = [side[0] for side in sides], [side[1] for side in sides]
            rater = raters.get(tree["rater_id"], tree["rater_id"])
            joined = ("\n".join(words), weights[0] if len(weights) == 1 else None, rater)
            yield {
                **heads[tree["response_id"]],
                **dict(zip(of_judged, joined, strict=True)),
                **_values(tree, columns),
            }

    every_column = (*OF_RESPONSE, *JUDGED, *columns.values())
    return FlatTable(
        "judgements", "Verdicts of people and judges", "", every_column, rows, len(bundle.judgements)
    )


def files(bundle: Bundle, facts: ReleaseFacts, *, parquet: bool = False) -> dict[str, Content]:
    """The files for other programs by path: the same bytes for the same content, except Parquet's."""
    bundle, metadata = ordered(bundle), facts.publication.metadata
    flat = tables(bundle, facts)
    made: dict[str, Content] = {
        table.path: _lines(table, facts.publication.canary, facts.encryption) for table in flat
    }
    if parquet:
        made |= {f"parquet/{table.name}.parquet": _parquet(made[table.path], table) for table in flat}
    card = data_card.text(bundle, facts, _loading(flat, facts))
    made[CARD] = f"---\n{_yaml(_front_matter(bundle, facts, flat))}---\n{card}".encode()
    made[CROISSANT] = pretty(_croissant(facts, flat, made))
    changes = data_card.corrections(facts.publication, quoted=facts.access is SplitAccess.AS_IS)
    made[CHANGES] = f"# Changes\n\n{changes or 'There are none yet.'}\n".encode()
    where_known = {
        BLOCKED: "".join(f"{pattern}\n" for pattern in data_card.blocked_sources(metadata)).encode(),
        DECODER: (resources() / "release" / DECODER).read_bytes() if facts.encryption else b"",
        LICENCE: _licence(metadata, facts.title).encode() if metadata.licence else b"",
        CITATION: _yaml(_citation(metadata, facts.title)).encode() if metadata.authors else b"",
    }
    return made | {path: content for path, content in where_known.items() if content}


def _lines(table: FlatTable, canary: str, encryption: Encryption | None) -> Pieces:
    """The rows, one a line, with the canary at the end of each."""

    def line(row: Row) -> bytes:
        flat: Mapping[str, Any] = {
            name: canonical_json(value).decode() if isinstance(value, (dict, list)) else value
            for name, value in row.items()
        } | {CANARY.name: canary}
        return orjson.dumps(encryption.record(flat) if encryption else flat, option=orjson.OPT_APPEND_NEWLINE)

    pieces = (b"".join(map(line, some)) for some in stretches(table.rows(), AT_ONCE))
    return laid_aside(pieces, f"rows of {table.path}")


def _parquet(lines: Content, table: FlatTable) -> bytes:
    """The same rows as a Parquet file; Refusal if pyarrow is not installed."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise Refusal(
            "Parquet files need pyarrow, which is not installed here. Nothing was released.",
            "Install it (pip install pyarrow), or release without Parquet: the JSON Lines hold the same rows.",
        ) from None
    types = {
        "string": arrow.string(),
        "int64": arrow.int64(),
        "float64": arrow.float64(),
        "bool": arrow.bool_(),
        DAY: arrow.date32(),
        MOMENT: arrow.timestamp("us", tz="UTC"),
    }
    columns = (*table.columns, CANARY)
    schema = arrow.schema([(column.name, types[column.dtype]) for column in columns])
    as_texts = arrow.schema(
        [
            (column.name, types["string" if column.dtype in (DAY, MOMENT) else column.dtype])
            for column in columns
        ]
    )
    written = io.BytesIO()
    every = (orjson.loads(line) for piece in pieces_of(lines) for line in piece.splitlines())
    with parquet.ParquetWriter(written, schema) as writer:
        for rows in stretches(every, ROW_GROUP):
            writer.write_table(arrow.Table.from_pylist(rows, schema=as_texts).cast(schema))
    return written.getvalue()


def _yaml(tree: Mapping[str, Any], indent: str = "") -> str:
    """A tree as YAML: each value that is no list or tree is written as JSON, which YAML reads."""
    lines = []
    for name, value in tree.items():
        if isinstance(value, list) and value:
            lines.append(f"{indent}{name}:\n")
            for one in value:
                entry = _yaml(one, f"{indent}  ") if isinstance(one, dict) else f"{indent}  {_json(one)}\n"
                lines.append(f"{indent}- {entry[len(indent) + 2 :]}")
        else:
            lines.append(f"{indent}{name}: {_json(value)}\n")
    return "".join(lines)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _front_matter(bundle: Bundle, facts: ReleaseFacts, flat: list[FlatTable]) -> dict[str, Any]:
    """The metadata that Hugging Face reads at the head of the card."""
    metadata = facts.publication.metadata
    kinds = {kind for _, kind, _, _ in tally(bundle.judgements)}
    by_people = bool(bundle.artifacts) or RaterKind.PERSON in kinds
    hub = (
        HUB_LICENCES.get(metadata.licence, metadata.licence.lower())
        if metadata.licence in LICENCES
        else "other"
    )
    named = (
        {"license_name": slug(metadata.licence).lower(), "license_link": LICENCE} if hub == "other" else {}
    )
    languages = metadata.languages or {item.language for item in bundle.items}
    return {
        "pretty_name": facts.title,
        **({"license": hub, **named} if metadata.licence else {}),
        "language": sorted({tag.split("-")[0].lower() for tag in languages}),
        "annotations_creators": [
            name
            for name, there in (
                ("expert-generated", by_people),
                ("machine-generated", RaterKind.JUDGE in kinds),
            )
            if there
        ],
        "task_categories": ["question-answering", "text-generation"],
        "size_categories": [next((name for most, name in SIZES if len(bundle.items) < most), "n>1M")],
        **({"tags": [*metadata.tags]} if metadata.tags else {}),
        "configs": [
            {"config_name": table.name, "data_files": [{"split": SPLIT, "path": table.path}]}
            for table in flat
        ],
        "dataset_info": [
            {
                "config_name": table.name,
                "features": [
                    {"name": column.name, "dtype": column.dtype} for column in (*table.columns, CANARY)
                ],
            }
            for table in flat
        ],
    }


def _loading(flat: list[FlatTable], facts: ReleaseFacts) -> str:
    rows = [(table.name, table.path, f"{table.count:,}", table.about) for table in flat]
    parts = [
        "```python\nfrom datasets import load_dataset\n\n"
        f'criteria = load_dataset("path/to/this/folder", "criteria", split="{SPLIT}")\n```',
        data_card.table(("configuration", "file", "rows", "what"), rows),
        "`croissant.json` describes the same files and every column of them.",
    ]
    if facts.publication.canary:
        parts.append(
            "These files are for testing. Every row has the field `canary`, which is in no text that is judged: leave "
            f"out of training data whatever contains `{facts.publication.canary}`."
        )
    return "\n\n".join(parts)


def _croissant(facts: ReleaseFacts, flat: list[FlatTable], made: Mapping[str, Content]) -> dict[str, Any]:
    """The description in Croissant 1.1 with its properties on responsible use."""
    metadata = facts.publication.metadata
    values = {
        "version": metadata.version,
        "license": LICENCES.get(metadata.licence, metadata.licence),
        "url": metadata.homepage,
        "datePublished": metadata.published,
        "citeAs": metadata.citation,
        "creator": [_person(author) for author in metadata.authors],
        "keywords": [*metadata.tags],
        "inLanguage": [*metadata.languages],
        "funding": metadata.funding,
        **{f"rai:{name}": getattr(metadata, field) for field, name in RAI.items()},
        "rai:annotatorDemographics": " ".join(filter(None, (metadata.annotators, metadata.consent))),
    }
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": facts.title,
        "description": metadata.description or "No description was given.",
        "isLiveDataset": False,
        **{name: value for name, value in values.items() if value},
        "rai:hasSyntheticData": any(table.name == "responses" for table in flat) or bool(facts.drafted),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": table.path,
                "name": table.name,
                "description": table.about,
                "contentUrl": table.path,
                "contentSize": f"{known_by(made[table.path])[1]} B",
                "encodingFormat": "application/jsonlines",
                "sha256": known_by(made[table.path])[0],
            }
            for table in flat
        ],
        "recordSet": [_record_set(table) for table in flat],
    }


def _record_set(table: FlatTable) -> dict[str, Any]:
    key = {"key": {"@id": f"{table.name}/{table.key}"}} if table.key else {}
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.about,
        **key,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{table.name}/{column.name}",
                "name": column.name,
                "description": column.about or column.name.replace("_", " ").capitalize(),
                "dataType": CROISSANT_TYPES[column.dtype],
                "source": {"fileObject": {"@id": table.path}, "extract": {"column": column.name}},
            }
            for column in (*table.columns, CANARY)
        ],
    }


def _person(author: Author) -> dict[str, Any]:
    values = {
        "sameAs": f"https://orcid.org/{author.orcid}" if author.orcid else "",
        "affiliation": {"@type": "sc:Organization", "name": author.affiliation} if author.affiliation else "",
    }
    return {"@type": "sc:Person", "name": author.name} | {
        name: value for name, value in values.items() if value
    }


def _citation(metadata: ReleaseMetadata, title: str) -> dict[str, Any]:
    """The content of CITATION.cff; the last word of a name is the family name, the others are given names."""
    authors = []
    for author in metadata.authors:
        given, _, family = author.name.rpartition(" ")
        named = {"family-names": family, "given-names": given} if given else {"alias": author.name}
        more = {
            "orcid": f"https://orcid.org/{author.orcid}" if author.orcid else "",
            "affiliation": author.affiliation,
        }
        authors.append(named | {name: value for name, value in more.items() if value})
    values = {
        "abstract": metadata.description,
        "version": metadata.version,
        "date-released": metadata.published,
        "license": metadata.licence if metadata.licence in LICENCES else "",
        "url": metadata.homepage,
        "keywords": [*metadata.tags],
    }
    return {
        "cff-version": "1.2.0",
        "message": metadata.citation or "If you use this benchmark, please cite it.",
        "type": "dataset",
        "title": title,
        "authors": authors,
        **{name: value for name, value in values.items() if value},
    }


def _licence(metadata: ReleaseMetadata, title: str) -> str:
    by = f"Copyright: {', '.join(author.name for author in metadata.authors)}\n" if metadata.authors else ""
    usual = LICENCES.get(metadata.licence)
    place = f"Its text: {usual}\n" if usual else ""
    spdx = (
        f"SPDX-License-Identifier: {metadata.licence}\n"
        if re.fullmatch(r"[\w.+-]+", metadata.licence)
        else ""
    )
    return (
        f"{data_card.line(title)}\n{by}{spdx}\n"
        f"The files of this release are licensed under {metadata.licence}.\n{place}"
        "\nReports are the works of the systems that wrote them, and sources those of their authors: mind their terms, "
        "too.\n"
    )


# As in the specification of Croissant 1.1.
CROISSANT_TERMS = [
    "arrayShape",
    "citeAs",
    "column",
    "containedIn",
    "equivalentProperty",
    "extract",
    "field",
    "fileProperty",
    "fileObject",
    "fileSet",
    "format",
    "includes",
    "isArray",
    "isLiveDataset",
    "jsonPath",
    "key",
    "md5",
    "parentField",
    "path",
    "recordSet",
    "references",
    "regex",
    "repeated",
    "replace",
    "samplingRate",
    "separator",
    "source",
    "subField",
    "transform",
]
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "description": {"@container": "@language"},
    "name": {"@container": "@language"},
    **{name: f"cr:{name}" for name in CROISSANT_TERMS},
}
