"""Numbers of things in words, for a window, a data card or a terminal."""


def counted(number: int, one: str, many: str = "") -> str:
    """“1 item”, “12 items”, “1,200 units”; `many` where the plural is not `one` and an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
