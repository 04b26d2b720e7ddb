"""How the house looks at its own source."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parents[2]
# The docstring of a module, which only comments may stand above.
BEGINNING = re.compile(r'(?:#[^\n]*\n|\s)*r?"""(.*?)"""', re.DOTALL)
# What a source has that catches everything, and many another.
CATCHING = re.compile(r"\bexcept\s*:|Exception")


def files(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((HERE / folder).rglob("*.py"))


def name(path: Path) -> str:
    return path.relative_to(HERE).as_posix()


def lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def docstring(path: Path) -> str:
    said = BEGINNING.match(path.read_text("utf-8"))
    return said[1].strip() if said else ""


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


def broad_excepts(source: str) -> list[int]:
    """Lines that catch everything: `except:`, `except Exception`, `except BaseException`."""
    if not CATCHING.search(source):
        return []
    return [
        node.lineno
        for node in statements(source)
        if isinstance(node, ast.ExceptHandler) and (node.type is None or _is_broad(node.type))
    ]


def _is_broad(caught: ast.expr) -> bool:
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException") for kind in kinds)
