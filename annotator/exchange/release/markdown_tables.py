"""Markdown tables of counts."""

from collections.abc import Iterable, Mapping


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(line(cell).replace("|", "\\|") for cell in row) + " |" for row in lines
    )


def shares(counts: Mapping[str, int]) -> list[tuple[str, str, str]]:
    """Rows of a name, its count, and its share of them all, by name."""
    total = sum(counts.values())
    return [(name, str(count), f"{100 * count / total:.1f} %") for name, count in sorted(counts.items())]


def line(words: str) -> str:
    return " ".join(words.split())
