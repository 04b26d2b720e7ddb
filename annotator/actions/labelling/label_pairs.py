"""Labels of pairs in one order for all raters: which report comes first is dealt anew to each person."""

from collections.abc import Callable, Iterable

from annotator.actions.labelling import dealing
from annotator.domain.kinds.labels import Label, Labels, label_id
from annotator.protocols import PROTOCOLS


def in_order(labels: Labels) -> Labels:
    """The labels with each pair in the order that is the same for everybody; one asked both ways stays as it is."""
    return labels.model_copy(
        update={"units": tuple(_turned(labels.units, lambda one: min(one.response_id, one.unit_id)))}
    )


def as_dealt(labels: Iterable[Label], person_id: str) -> list[Label]:
    """The labels with each pair in the order in which a person is asked about it."""
    units = list(labels)
    return _turned(
        units, lambda one: dealing.shown_first(person_id, one.protocol, one.response_id, one.unit_id)
    )


def _turned(units: Iterable[Label], first: Callable[[Label], str]) -> list[Label]:
    listed = list(units)
    there = {one.id for one in listed}
    return [
        _mirrored(one)
        if _is_pair(one) and first(one) != one.response_id and _mirrored(one).id not in there
        else one
        for one in listed
    ]


def _is_pair(label: Label) -> bool:
    return label.protocol in PROTOCOLS and PROTOCOLS[label.protocol].paired


def _mirrored(label: Label) -> Label:
    value = PROTOCOLS[label.protocol].scale.mirrored.get(label.value, label.value)
    about = {"response_id": label.unit_id, "unit_id": label.response_id, "value": value}
    return label.model_copy(
        update={**about, "id": label_id(label.protocol, about["response_id"], about["unit_id"])}
    )
