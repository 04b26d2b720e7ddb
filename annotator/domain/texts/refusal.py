"""Refusals: a request that cannot be met, with what to do instead."""


class Refusal(Exception):
    """A request that cannot be met, in one sentence of what happened and one of what to do."""

    def __init__(self, happened: str, todo: str = "", details: tuple[str, ...] = ()) -> None:
        super().__init__(happened if not todo else f"{happened} {todo}")
        self.happened = happened
        self.todo = todo
        self.details = details
