"""How pictures are saved, as PNG or SVG."""

from io import BytesIO
from pathlib import Path
from typing import Any

from annotator import files
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.pictures.figures import Ink

__all__ = ["Ink", "save"]
DOTS_PER_INCH = 200


def save(figure: Any, path: Path) -> Path:
    """Write a figure as PNG or SVG, by the ending of `path`; whole or not at all."""
    ending = path.suffix.lower().lstrip(".")
    if ending not in ("png", "svg"):
        raise Refusal(f"A picture cannot be saved as “{path.suffix}”.", "Use .png or .svg.")
    from matplotlib import rc_context

    picture = BytesIO()
    # A fixed salt and no date: the same results give the same bytes.
    metadata = {"Date": None} if ending == "svg" else {"Software": None}
    with rc_context({"svg.hashsalt": "goldsmith", "svg.fonttype": "none"}):
        figure.savefig(
            picture, format=ending, dpi=DOTS_PER_INCH, metadata=metadata, facecolor=figure.get_facecolor()
        )
    return files.save(path, picture.getvalue())
