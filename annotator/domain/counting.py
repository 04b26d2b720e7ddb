"""Numbers of things and lengths of time in words, for a window, a data card or a terminal."""


def counted(number: int, one: str, many: str = "") -> str:
    """“1 item”, “12 items”, “1,200 units”; `many` where the plural is not `one` and an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def lasting(seconds: float) -> str:
    """A length of time in a word or two."""
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min"
