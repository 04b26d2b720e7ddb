"""The picture of the rooms in the README, drawn from the code: `python -m tests.house.rooms` puts it there."""

import textwrap

from tests.house import reading

ROOMS = ("cli", "gui", "actions", "storage", "judging", "exchange", "protocols", "stats", "domain")
BEGIN, END = "<!-- rooms -->\n", "<!-- end of rooms -->\n"
README = reading.HERE / "README.md"
_WIDTH, _NAMES = 112, 12


def picture() -> str:
    """Each room with its sentence and its shelves, as the code has them; a room imports only those below it."""
    lines = [f"{'':4}annotator/"]
    for room in ROOMS:
        folder = reading.HERE / "annotator" / room
        says = reading.docstring(folder / "__init__.py").split("\n")[0].rstrip(".")
        shelves = sorted(path.parent.name for path in folder.glob("*/__init__.py"))
        words = f"{says}: {', '.join(shelves)}" if shelves else says
        first, *rest = textwrap.wrap(words, _WIDTH - _NAMES - 6)
        lines.append(f"{'':6}{room + '/':{_NAMES}}{first}")
        lines += [f"{'':{_NAMES + 6}}{line}" for line in rest]
    return "\n".join(lines) + "\n"


def with_picture(text: str) -> str:
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{picture()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(with_picture(README.read_text("utf-8")), "utf-8")
