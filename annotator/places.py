"""Paths: files shipped with the program, and the folders of the person using it."""

from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


@cache
def resources() -> Path:
    """The folder of shipped files: beside the package in a checkout, inside it once installed."""
    return _shipped("resources")


@cache
def schemas() -> Path:
    """The folder of published JSON Schemas."""
    return _shipped("schemas")


def _shipped(name: str) -> Path:
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name


@cache
def user_data() -> Path:
    """The person's local (never roaming) folder for the sample, backups' index and settings."""
    from platformdirs import user_data_path

    return user_data_path("goldsmith", appauthor=False, roaming=False)
