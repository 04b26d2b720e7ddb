"""Release tables of double annotation: frozen figures, the origin of each consensus unit, objections."""

from collections.abc import Iterator, Mapping
from typing import Any

from annotator.domain.experts.agreement import Figure
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.pair_records import AdjudicationRecord, AgreementRecord

Rows = list[dict[str, Any]]
Names = Mapping[str, str]


def tables(bundle: Bundle) -> dict[str, Rows]:
    """The tables by name, in the order of the bundle; people by alias, items by key as well."""
    keys = {item.id: item.key for item in bundle.items}
    aliases = {person.id: person.alias for person in bundle.people}
    return {
        "agreement": [line for one in bundle.agreements for line in _figures(one, keys, aliases)],
        "provenance": [line for one in bundle.adjudications for line in _units(one, keys, aliases)],
        "disputes": [line for one in bundle.adjudications for line in _disputes(one, keys, aliases)],
    }


def _figures(one: AgreementRecord, keys: Names, aliases: Names) -> Iterator[dict[str, Any]]:
    """The figures of each pair of raters, then those over all raters, who stand as nobody."""
    head = {"item_key": keys[one.item_id], "item_id": one.item_id, "stage": one.stage.value}
    versions = one.model_dump(mode="json", include={"matcher", "program", "frozen_at"})
    found: list[tuple[str, str, tuple[Figure, ...]]] = [(pair.a, pair.b, pair.figures) for pair in one.pairs]
    for a, b, figures in [*found, ("", "", one.figures)]:
        raters = {"rater_a": aliases.get(a, ""), "rater_b": aliases.get(b, "")}
        for figure in figures:
            values = figure.model_dump()
            yield {**head, **raters, "figure": values.pop("name"), **values, **versions}


def _units(one: AdjudicationRecord, keys: Names, aliases: Names) -> Iterator[dict[str, Any]]:
    for unit in one.provenance:
        values = unit.model_dump(mode="json", exclude={"sources", "wording_of"})
        yield {
            **_head(one, keys), "artifact_id": one.artifact_id, "revision": one.revision,
            "adjudicator": aliases.get(one.adjudicator_id, ""), "wording_of": aliases.get(unit.wording_of, ""),
            "written_by": " and ".join(sorted(aliases.get(person, person) for person in unit.sources)), **values,
        }  # fmt: skip


def _disputes(one: AdjudicationRecord, keys: Names, aliases: Names) -> Iterator[dict[str, Any]]:
    for dispute in one.disputes:
        values = dispute.model_dump(mode="json", exclude={"person_id"})
        yield {**_head(one, keys), "person": aliases.get(dispute.person_id, ""), **values}


def _head(one: AdjudicationRecord, keys: Names) -> dict[str, Any]:
    about = {"item_key": keys[one.item_id], "item_id": one.item_id, "stage": one.stage.value}
    return {**about, "version": one.version}
