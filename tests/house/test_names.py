"""A class is known by its name alone: names are not used again and again for different things."""

import re
from collections import Counter
from functools import cache

from tests.house import reading

# A class that is no part of another stands at the beginning of a line.
CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
# How many modules may define a class of the same name; private names are read beside their module.
MOST, MOST_PRIVATE = 2, 3
# Classes that share their name with another, all told: only ever fewer.
MOST_SHARED = 11


@cache
def _names() -> Counter[str]:
    return Counter(
        name for path in reading.files("annotator") for name in CLASS.findall(path.read_text("utf-8"))
    )


def test_no_name_of_a_class_is_defined_again_and_again() -> None:
    often = {
        name: count for name, count in _names().items() if count > (MOST_PRIVATE if name[0] == "_" else MOST)
    }
    assert often == {}


def test_fewer_and_fewer_classes_share_a_name() -> None:
    assert sum(count > 1 for count in _names().values()) <= MOST_SHARED
