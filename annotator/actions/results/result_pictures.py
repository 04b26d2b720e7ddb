"""Pictures of the results: their list, pixels for the window, PNG and SVG files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from typing import Any

from annotator import files
from annotator.actions.results.metrics import MetricInfo
from annotator.actions.results.result_sheets import SheetPicture
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.pictures.figures import PRINTED, Ink, intervals
from annotator.exchange.pictures.result_pictures import (
    PicturePoint,
    bars,
    clouds,
    lines,
    matrix,
    pairs,
    plane,
)
from annotator.exchange.pictures.result_pictures import heat as _heat
from annotator.exchange.pictures.validation_pictures import (
    PlottedRater,
    Section,
    beside,
    confusions,
    differences,
)

__all__ = [
    "PRINTED",
    "Dots",
    "Ink",
    "PicturePoint",
    "PlottedRater",
    "Section",
    "bars",
    "beside",
    "clouds",
    "confusions",
    "differences",
    "dots",
    "duels",
    "heat",
    "lines",
    "matrix",
    "pairs",
    "plane",
    "printed",
    "save",
    "shares",
    "systems",
]
# Of what stands below a picture, in a line.
CAPTION_LETTERS = 125
# The axis of a share that every system fills from 0 to 1.
WHOLE = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Dots:
    """A rendered picture: red, green, blue and alpha of each pixel, row by row from the top."""

    width: int
    height: int
    rgba: bytes


def systems(found: Sequence[tuple[str, Estimate]], title: str, info: MetricInfo, ink: Ink) -> Any:
    unit = f" ({info.unit})" if info.unit else ""
    drawn = ", 95 % interval" if any(one.low is not None for _, one in found) else ""
    axis = f"{info.title}{unit}: {info.ranging}{drawn}"
    return intervals(found, title, axis, ink, within=info.axis, higher_is_better=info.higher_is_better)


def shares(found: Sequence[tuple[str, Estimate]], title: str, axis: str, ink: Ink) -> Any:
    return intervals(found, title, axis, ink)


def duels(title: str, systems: Sequence[str], won: Mapping[tuple[str, str], float | None], ink: Ink) -> Any:
    return _heat(title, systems, systems, won, WHOLE, ink)


def heat(
    title: str, rows: Sequence[str], columns: Sequence[str], values: Mapping[tuple[str, str], float | None],
    info: MetricInfo | None, ink: Ink,
) -> Any:  # fmt: skip
    """A heat map; of what lies between two bounds, the colours run from one to the other."""
    return _heat(title, rows, columns, values, WHOLE if info is None else info.axis, ink)


def printed(picture: SheetPicture, departures: Sequence[str] = ()) -> Any:
    """A picture for white paper, as `save` takes it; below it stands where it differs from its paper."""
    figure = picture.draw(PRINTED)
    if departures:
        words = (wrap(f"– {one}", CAPTION_LETTERS) for one in departures)
        caption = "\n".join(["Differences from the paper:", *(line for own in words for line in own)])
        figure.text(0.01, -0.02, caption, va="top", fontsize=7, color=PRINTED.text)
    return figure


def dots(_project: object, picture: SheetPicture, ink: Ink, per_inch: float) -> Dots:
    """A picture as dots, so many to an inch; drawn wherever there is time, and never twice at once."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = picture.draw(ink)
    figure.set_dpi(per_inch)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    return Dots(width, height, bytes(canvas.buffer_rgba()))


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
            picture, format=ending, dpi=DOTS_PER_INCH, metadata=metadata, facecolor=figure.get_facecolor(),
            bbox_inches="tight" if figure.texts else None,
        )  # fmt: skip
    return files.save(path, picture.getvalue())
