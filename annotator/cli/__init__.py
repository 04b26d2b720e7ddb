"""The command line: the same actions as the window, in plain sentences, or JSON for machines."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from annotator import loading
from annotator.cli.saying import DONE, NOT_ALL, REFUSED, USAGE, error_console
from annotator.domain.common import KeyNotAllowed, Refusal


class Stopped(SystemExit):
    """The user ended the command before it was done."""


def run_command(words: list[str]) -> int:
    """Run one command and return the exit code: 0 done, 1 refused with one plain sentence, 2 wrong usage, 3
    incomplete.
    """
    # Undecodable bytes arrive as lone surrogates.
    if any(sign == "\0" or "\ud800" <= sign <= "\udfff" for word in words for sign in word):
        error_console.print(
            "A word of this command holds characters that are not text. Remove them.", markup=False
        )
        return USAGE
    try:
        with _endable():
            with loading():
                from annotator.cli.saying import app
            while True:
                try:
                    app(args=words, prog_name="goldsmith")
                    break
                except KeyNotAllowed as refusal:
                    # The same command, run again after a key was allowed, resumes what it had begun.
                    if not _allowed_now(refusal):
                        raise
    except Refusal as refusal:
        error_console.print(str(refusal), markup=False)
        for detail in refusal.details:
            error_console.print(f"  {detail}", markup=False)
        return REFUSED
    except OSError as error:
        # A name that is too long, a folder in place of a file, a full disk: not the program's fault.
        error_console.print(
            f"The operating system refused{f' “{error.filename}”' if error.filename else ''}: "
            f"{error.strerror or error}. Existing files were kept.",
            markup=False,
        )
        return REFUSED
    except Stopped:
        error_console.print("Stopped. Everything finished by then was saved.", markup=False)
        return NOT_ALL
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return DONE


def _allowed_now(refusal: KeyNotAllowed) -> bool:
    """Ask the user at the terminal once whether a key may go to an address; False without a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    import typer

    from annotator.actions.judges import kept_keys

    error_console.print(refusal.happened, markup=False)
    allowed = typer.confirm(f"Allow it for {refusal.address}?", err=True)
    if allowed or refusal.key.startswith("keyring:"):
        # An entry of the keyring is offered once; without a variable the judge cannot be asked.
        error_console.print(kept_keys.allow(refusal.key, refusal.address, allowed=allowed), markup=False)
    return allowed or refusal.key.startswith("keyring:")


@contextmanager
def _endable() -> Iterator[None]:
    """Make Ctrl+C, SIGTERM and a closed terminal end the command in order, with its project closed."""
    mine = threading.current_thread() is threading.main_thread()
    names = ("SIGINT", "SIGTERM", "SIGHUP") if os.name == "posix" else ("SIGINT",)
    heeded = [getattr(signal, name) for name in names if mine]
    before = {number: signal.signal(number, _stop) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(*_: Any) -> None:
    raise Stopped(NOT_ALL)
