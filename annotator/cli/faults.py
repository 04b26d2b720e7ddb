"""Printing a program error without any key."""

import sys
import traceback
from types import TracebackType

from annotator.domain.texts.redaction import held, redact
from annotator.domain.texts.well_formed import visible


def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an error nobody foresaw."""
    sys.stderr.write(visible(redact("".join(traceback.format_exception(kind, error, trace)), held())))
