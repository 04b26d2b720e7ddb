"""`python -m installers.release TAG`: what the change log tells of a version; refused where tag and version differ."""

from __future__ import annotations

import re
import sys

from installers.payload import CHECKOUT, Refused, version


def notes(tag: str, changes: str) -> str:
    """The part of the change log for the version that a tag names; Refused where it is not the present one."""
    present = version()
    if tag != f"v{present}":
        raise Refused(f"The tag {tag} is not v{present}, which pyproject.toml says.")
    result = re.search(rf"^## \[?{re.escape(present)}\b[^\n]*\n(.*?)(?=^## |\Z)", changes, re.M | re.S)
    if result is None or not result[1].strip():
        raise Refused(f"CHANGELOG.md has no part “## {present}”.")
    return result[1].strip() + "\n"


def main(words: list[str]) -> int:
    """Print the notes of the one tag that is given; 1 where there are none."""
    try:
        print(notes("".join(words), (CHECKOUT / "CHANGELOG.md").read_text("utf-8")), end="")
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
