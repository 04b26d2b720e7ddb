"""What a refusal is: the domain or the world says no, and says what to do."""


class Refusal(Exception):
    """A request that cannot be met, in one sentence of what happened and one of what to do."""

    def __init__(self, happened: str, todo: str = "", details: tuple[str, ...] = ()) -> None:
        super().__init__(happened if not todo else f"{happened} {todo}")
        self.happened = happened
        self.todo = todo
        self.details = details
