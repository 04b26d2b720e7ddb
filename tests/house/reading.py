"""How the house looks at its own source."""

import ast
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parents[2]


def files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((HERE / folder).rglob("*.py"))


def name(path: Path) -> str:
    return path.relative_to(HERE).as_posix()


def said_in_code(source: str) -> Iterator[str]:
    """Every name, import and string of a source; not what stands alone as a docstring, nor comments."""
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(words)) if id(node) not in alone:
                yield words
            case ast.Name(id=words) | ast.Attribute(attr=words) | ast.alias(name=words):
                yield words
            case ast.ImportFrom(module=str(words)):
                yield words


def statements(source: str) -> Iterator[ast.AST]:
    """Every statement of a source, with the handlers and cases of those that have some; no expression is gone into."""
    inner: list[ast.AST] = [ast.parse(source)]
    while inner:
        node = inner.pop()
        yield node
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner += getattr(node, name, ())
