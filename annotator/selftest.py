"""Self-test of an installed program, for bundles before they are released."""

import asyncio
import json
import os
import pkgutil
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any

from annotator import __version__, places
from annotator.actions.project.people import new_project
from annotator.domain.common import Refusal, counted

CHILD_S = 60.0
# The first version with RETURNING.
OLDEST_SQLITE = (3, 35)


def run() -> dict[str, Any]:
    """Each part's name, whether it works and its detail; `ok` if all work."""
    parts = [_tried(name, part) for name, part in PARTS]
    return {
        "ok": all(part["ok"] for part in parts),
        "version": __version__,
        "python": sys.version.split()[0],
        "frozen": bool(getattr(sys, "frozen", False)),
        "parts": parts,
    }


def _tried(name: str, part: Callable[[], str]) -> dict[str, Any]:
    try:
        return {"name": name, "ok": True, "detail": part()}
    except (Refusal, AssertionError) as error:
        return {"name": name, "ok": False, "detail": str(error)}
    except (ImportError, OSError, RuntimeError, LookupError, ValueError) as error:
        return {"name": name, "ok": False, "detail": f"{type(error).__name__}: {error}"}


@contextmanager
def _folder() -> Iterator[Path]:
    """A temporary folder whose name has characters that often cause errors."""
    with tempfile.TemporaryDirectory(prefix="goldsmith probe é界 ", ignore_cleanup_errors=True) as name:
        yield Path(name)


def _project() -> str:
    from annotator.actions.items.items import Filter, add, ids

    with _folder() as folder:
        project = new_project(folder / "tried.goldsmith")
        add(project, "Does a row survive a round trip? 是的")
        result = ids(project, Filter(words="round trip"))
        description = project.store.described()
        project.close()
    assert len(result) == 1, "the item was not found again"
    version = description.removeprefix("SQLite ").partition(",")[0]
    assert tuple(map(int, version.split("."))) >= OLDEST_SQLITE, (
        f"SQLite {version} is too old; 3.35 is needed"
    )
    return description


def _beside() -> str:
    """Whether files can be written beside a project in the user's own folder: the project, a backup, locks."""
    from annotator.actions.project import backups

    try:
        places.user_data().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=places.user_data(), prefix="tried ", ignore_cleanup_errors=True
        ) as name:
            project = new_project(Path(name) / "tried.goldsmith")
            # Nothing is recorded about a deleted project.
            with closing(project.store):
                return f"{backups.make(project, 'tried').parent.name} beside a project"
    except OSError as error:
        raise Refusal(f"{places.user_data()} cannot be written: {error.strerror}.") from error


def _modules() -> str:
    """Whether all imports of every module exist, including those loaded only on demand."""
    import annotator

    result = [
        walk_package.name
        for walk_package in pkgutil.walk_packages(annotator.__path__, "annotator.")
        if not walk_package.name.endswith("__main__")
    ]
    for name in result:
        import_module(name)
    return f"{len(result):,} modules"


def _signing() -> str:
    from annotator.exchange.parcels.packages import fingerprint, is_signed_by, new_key, public_key, sign

    key = new_key()
    public, signature = public_key(key), sign(b"a task", key)
    assert is_signed_by(b"a task", signature, public), "a signature of its own does not hold"
    assert not is_signed_by(b"another task", signature, public), "a signature holds for what was not signed"
    return f"Ed25519, {len(fingerprint(public).split()):,} words"


def _files() -> str:
    folders = (
        "guidelines",
        "help",
        "icons",
        "prompts",
        "related-work",
        "sample",
        "seminar",
        "spelling",
        "themes",
    )
    paths = [places.resources() / name for name in folders]
    missing = [path.name for path in [*paths, places.schemas()] if not any(path.glob("*"))]
    assert not missing, f"missing: {', '.join(missing)}"
    return f"{len(list(places.schemas().glob('*.json'))):,} schemas"


class _Answer(BaseHTTPRequestHandler):
    """A test endpoint that always says yes."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
        reply = json.dumps(
            {"id": "1", "object": "chat.completion", "model": "tried", "choices": [choice]}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - named by the base class
        """Log nothing to the error stream."""


def _endpoint() -> str:
    server = HTTPServer(("127.0.0.1", 0), _Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        content = asyncio.run(_answer_of(f"http://127.0.0.1:{server.server_port}/v1"))
    finally:
        server.shutdown()
        server.server_close()
    assert content == "yes", f"the reply was {content!r}"
    return ssl.OPENSSL_VERSION


def _certificates() -> str:
    missing = places.no_certificates()
    assert not missing, missing
    return counted(len(places.trusted().get_ca_certs()), "certificate") + " read so far"


async def _answer_of(address: str) -> str:
    from annotator.judging.calls.client import Client, Endpoint

    async with Client(Endpoint(address, "tried", timeout_s=20.0)) as client:
        body = {"model": "tried", "messages": [{"role": "user", "content": "Are you there?"}]}
        outcome = await client.attempt(body)
    return outcome.content or outcome.message


def _help() -> str:
    result = _spoken("--help")
    assert result.returncode == 0, result.stderr.decode(errors="replace")[-500:]
    return f"{counted(len(result.stdout.splitlines()), 'line')} of help"


def _child() -> str:
    from annotator.actions.imports import samples

    with _folder() as folder:
        project = samples.create(folder / "tried.goldsmith")
        project.close()
        result = _spoken("judge", "run", str(project.path), "--judge", "baseline", "--progress", "json")
    last = json.loads((result.stdout.splitlines() or [b"{}"])[-1])
    assert last.get("state") == "done", last or result.stderr.decode(errors="replace")[-500:]
    return f"{last['done']} of {last['total']} judgements"


def _spoken(*words: str, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    """The output of this very program started again with some arguments, as the window does."""
    from annotator.gui.session.run import command

    program, first = command()
    return subprocess.run(
        [program, *first, *words], capture_output=True, timeout=CHILD_S, check=False, stdin=subprocess.DEVNULL,
        env=os.environ | environment,
    )  # fmt: skip


def _keyring() -> str:
    import keyring

    name = type(keyring.get_keyring()).__module__
    lasting = not name.endswith((".fail", ".null"))
    return (
        name if lasting else f"{name}: this system keeps no keys, so a key lasts until the window is closed"
    )


def _fonts() -> str:
    _in_memory()
    from annotator.gui.shell import menus
    from annotator.gui.shell.start import make_application

    make_application()
    family = menus.seen()
    assert family, "letters are drawn as boxes: this machine has no font; install fonts-dejavu-core"
    missing = menus.lacking("界")
    return family + (f"; none for {missing}. {menus.advice(missing)}" if missing else "")


def _display() -> str:
    """The present screen, tested in a process of its own: Qt ends the process if it cannot reach a screen."""
    screen = any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")))
    if sys.platform == "linux" and not screen:
        return "no screen here"
    # The window closes by itself when first idle.
    result = _spoken(GOLDSMITH_STOPWATCH="1")
    errors = result.stderr.decode(errors="replace").strip().splitlines()
    assert result.stdout.strip(), (
        f"no window can be shown: {' '.join(errors[:2]) or f'exit code {result.returncode}'}"
    )
    return os.environ.get("QT_QPA_PLATFORM") or os.environ.get("XDG_SESSION_TYPE") or "a screen"


def _numbers() -> str:
    from annotator.stats.intervals.clustered import cluster_mean

    result = cluster_mean([0.0, 1.0], ["a", "b"])
    assert result.value == 0.5, f"the mean was {result.value}"
    return "the mean of 0 and 1 is 0.5"


def _pictures() -> str:
    from annotator.domain.texts.estimate import Estimate
    from annotator.exchange.pictures import intervals

    figure = intervals("tried", [("tried", Estimate(0.5, 0.4, 0.6, n=2))], "coverage")
    with _folder() as folder:
        sizes = []
        for kind in ("png", "svg"):
            path = folder / f"tried.{kind}"
            figure.savefig(path)
            sizes.append(f"{kind} {path.stat().st_size}")
    return ", ".join(sizes) + " bytes"


def _tables() -> str:
    from annotator.exchange.release.tables_csv import csv

    written = csv([{"system": "tried", "value": 1}]).decode("utf-8-sig")
    assert written == "system,value\r\ntried,1\r\n", f"the table reads {written!r}"
    return "a table of 1 row written"


def _documents() -> str:
    import pypdfium2

    from annotator.exchange.texts.rendering import render

    made = render("**tried** $x_1$")
    assert "<strong>" in made.html, "bold text was not rendered"
    assert '<img src="formula:' in made.html, "a formula was not drawn"
    with closing(pypdfium2.PdfDocument.new()) as document:
        document.new_page(100, 100)
        return f"Markdown rendered, a PDF of {len(document)} page made"


def _languages() -> str:
    from annotator.gui.shell.window_trial import dated, in_order, steps

    order = in_order(["Zebra", "Äpfel 10", "Apfel 9", "界"])
    assert order == ["Apfel 9", "Äpfel 10", "Zebra", "界"], f"names are sorted {order}"
    moved = steps("e\u0301界")
    assert moved == 2, f"a caret takes {moved} steps through 2 letters"
    month = dated(0, "zh")
    assert "月" in month, f"January 1970 reads {month!r}"
    return f"{' < '.join(order)}; {month}"


def _in_memory() -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def _window() -> str:
    _in_memory()
    from annotator.gui.shell.window_trial import try_window

    return try_window()


PARTS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("modules", _modules),
    ("project file", _project),
    ("writing", _beside),
    ("signatures", _signing),
    ("shipped files", _files),
    ("endpoints", _endpoint),
    ("certificates", _certificates),
    ("command line", _help),
    ("judging process", _child),
    ("keyring", _keyring),
    ("numbers", _numbers),
    ("pictures", _pictures),
    ("tables", _tables),
    ("documents", _documents),
    ("languages", _languages),
    # Before the parts that paint in memory.
    ("display", _display),
    ("fonts", _fonts),
    ("window", _window),
)
