"""ResearcherBench's questions matched with a project's items, by question number."""

from collections.abc import Iterable, Iterator, Mapping

from annotator.domain.texts.identity import derived_id
from annotator.exchange.formats.layout import HasNumber
from annotator.exchange.formats.researcherbench_layout import DATASET, MappedItem
from annotator.exchange.reading import LARGEST_NUMBER
from annotator.exchange.release.records import ItemRecord

# No project has had so many keys in a row taken when a question came in.
_REACH = 100_000


def own_numbers(items: Iterable[HasNumber]) -> dict[str, int]:
    """Item → its question's number in the benchmark, for those that came from there.

    The id is made from the number, which thus outlives a key that had to be raised to a free one.
    """
    called = {one.id: int(one.key) for one in items if one.dataset == DATASET and is_number(one.key)}
    asked: dict[str, int] = {}
    start = 0
    for number in sorted({key for item_id, key in called.items() if derived_id(DATASET, key) != item_id}):
        below = range(max(start, number - _REACH), number + 1)
        asked |= {derived_id(DATASET, one): one for one in below}
        start = number + 1
    own = {item_id: asked.get(item_id, key) for item_id, key in called.items()}
    first: dict[int, str] = {}
    for item_id, number in sorted(own.items(), key=lambda one: derived_id(DATASET, one[1]) != one[0]):
        first.setdefault(number, item_id)
    return {item_id: number for item_id, number in own.items() if first[number] == item_id}


def numbered(items: Iterable[ItemRecord]) -> Iterator[tuple[str, int]]:
    """Each item's number: its own where it came from this benchmark, the next free one otherwise."""
    items = list(items)
    own = own_numbers(items)
    yield from own.items()
    following = max((0, *own.values()))
    for item in items:
        if item.id not in own:
            following += 1
            yield item.id, following


def mapped(items: Iterable[ItemRecord], numbers: Mapping[str, int]) -> list[MappedItem]:
    """The items of which the number does not say everything."""
    return [
        MappedItem(id=numbers[item.id], item_id=item.id, dataset=item.dataset, key=item.key)
        for item in items
        if (item.id, item.key) != (derived_id(DATASET, numbers[item.id]), str(numbers[item.id]))
    ]


def is_number(key: str) -> bool:
    """Whether a key is a question's number as this layout writes it."""
    digits = key.isascii() and key.isdigit()
    return digits and str(int(key)) == key and int(key) <= LARGEST_NUMBER
