"""How figures of validation stand in a cell: with what they stand on, and never bare where they tell little."""

from dataclasses import replace

from annotator.actions.sheets.result_sheets import Cell, figure, number
from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.coding import ONE_CATEGORY

ONE_CLASS, NO_INTERVAL, NO_SPREAD = "one class only", "no interval", "no spread"


def told(estimate: Estimate, unit: str = "") -> Cell:
    """A figure with its interval; where there is none, or none of any width, a word says so and the tip says why."""
    cell = figure(estimate, unit)
    if estimate.value is None:
        return cell
    why = remark(estimate)
    if not why:
        return cell
    state = "flat" if why != NO_INTERVAL else cell.state
    gaps = f"  {estimate.missing:,} missing" if estimate.missing else ""
    return replace(cell, words=f"{number(estimate.value, unit)}  {why}{gaps}", state=state)


def remark(estimate: Estimate) -> str:
    """Why a value tells less than it seems to, in a word or two; empty where it has an interval of some width."""
    if estimate.value is None:
        return ""
    if ONE_CATEGORY in estimate.note:
        return ONE_CLASS
    if estimate.low is None or estimate.high is None:
        return NO_INTERVAL
    return NO_SPREAD if estimate.low == estimate.high else ""
