"""JSON Schemas of reply classes, in a form that every strict server accepts."""

import re
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

# What strict servers agree on; lengths, patterns and bounds are checked here, after the reply has come.
_KEPT = {"type", "description", "enum", "properties", "required", "additionalProperties", "items", "anyOf"}
_LEFT_TO_US = {
    "title", "default", "format", "pattern", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "examples", "$defs",
}  # fmt: skip


@lru_cache(maxsize=64)
def strict_schema(reply: type[BaseModel]) -> dict[str, Any]:
    """The schema of a reply class in the strict subset: no references, all fields required, no others allowed.

    Raises ValueError when the class needs more than the subset: free keys, any values, tuples, tagged
    unions, recursion.
    """
    tree = reply.model_json_schema()
    return _strict(tree, tree.get("$defs", {}), ())


def schema_name(reply: type[BaseModel]) -> str:
    """The class's name as servers accept it: letters, digits, dash and underscore, at most 64."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", reply.__name__)[:64]


def _strict(node: dict[str, Any], definitions: dict[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[-1]
        if name in inside:
            raise ValueError(f"a reply cannot contain itself: {name}")
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return _strict({**definitions[name], **rest}, definitions, (*inside, name))
    node = {
        "enum" if key == "const" else key: [value] if key == "const" else value for key, value in node.items()
    }
    odd = set(node) - _KEPT - _LEFT_TO_US
    if odd:
        raise ValueError(f"outside the strict subset: {', '.join(sorted(odd))}")
    kept = {key: value for key, value in node.items() if key in _KEPT}
    if not kept.keys() & {"type", "enum", "anyOf"}:
        raise ValueError("outside the strict subset: a value of any kind")
    if "anyOf" in kept:
        kept["anyOf"] = [_strict(option, definitions, inside) for option in kept["anyOf"]]
    if "items" in kept:
        kept["items"] = _strict(kept["items"], definitions, inside)
    return _closed(kept, definitions, inside) if kept.get("type") == "object" else kept


def _closed(node: dict[str, Any], definitions: dict[str, Any], inside: tuple[str, ...]) -> dict[str, Any]:
    if node.get("additionalProperties", False) is not False:
        raise ValueError("outside the strict subset: an object with free keys")
    properties = {
        name: _strict(value, definitions, inside) for name, value in node.get("properties", {}).items()
    }
    return {**node, "properties": properties, "required": list(properties), "additionalProperties": False}
