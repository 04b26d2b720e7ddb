"""Removal of secrets from the logs."""

import logging
from collections.abc import Iterable

from annotator.domain.texts.redaction import redact


class Redaction(logging.Filter):
    """A filter for log handlers that takes secrets out of the message, its arguments and its traceback."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        super().__init__()
        self.keys = tuple(keys)

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record through, redacted."""
        record.msg, record.args = redact(record.getMessage(), self.keys), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            # A handler's formatter would print the traceback again from exc_info, keys and all.
            record.exc_text, record.exc_info = redact(record.exc_text, self.keys), None
        if record.stack_info:
            record.stack_info = redact(record.stack_info, self.keys)
        return True


def guard(handlers: Iterable[logging.Handler], keys: Iterable[str] = ()) -> Redaction:
    """Put one redacting filter on log handlers. On handlers: a logger's own filter misses its children's records."""
    redaction = Redaction(keys)
    for handler in handlers:
        handler.addFilter(redaction)
    return redaction
