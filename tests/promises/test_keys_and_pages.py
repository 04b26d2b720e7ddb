"""What Goldsmith promises about keys, addresses and the pages that it reads."""

import asyncio
import gzip
import json
import sys
import zlib
from base64 import b64encode
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.imports import imports
from annotator.actions.judges import judges, kept_keys
from annotator.actions.judging import judge_probes, judge_runs
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.pages import reading
from annotator.exchange.pages.worker import ReadingProcess
from annotator.judging.calls.client import Client, Endpoint
from annotator.judging.calls.keys import SERVICE
from tests.judging.calls.test_keys import Ring
from tests.judging.odd_server import OddServer, at_work, completion, error
from tests.projects.small_project import small_project
from tests.storage import sql

pytestmark = pytest.mark.anyio


KEY = "sk-live-9f8e7d6c5b4a3f2e1d0c"


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Ring:
    found = Ring()
    monkeypatch.setattr(kept_keys._keys(), "_ring", found)
    monkeypatch.setattr(kept_keys._keys(), "_session", {})
    return found


@pytest.fixture
def brought(tmp_path: Path) -> Any:
    """A project into which a release came, with a judge “gpt-4o” that asks at another address, and that server."""
    (tmp_path / "theirs").mkdir()
    theirs = small_project(tmp_path / "theirs")
    with at_work(OddServer()) as server:
        judges.add(theirs, "gpt-4o", base_url=server.url, model="m")
        asyncio.run(judge_runs.run(theirs, RunRequest("gpt-4o", systems=("Alpha",))))
        releases.export(theirs, tmp_path / "out")
        theirs.close()
        mine = Project.create(tmp_path / "mine.goldsmith", "mine")
        imports.run(mine, "goldsmith", [tmp_path / "out"], warm=False)
        # Releases of earlier versions bring addresses; this one is as such a release leaves it.
        with mine.store.write():
            sql.alter(mine, "UPDATE judge SET base_url = ?", [server.url])
        yield mine, server
        mine.close()


def test_a_judge_that_was_imported_has_no_key_until_a_person_gives_one(
    brought: tuple[Project, OddServer], ring: Ring
) -> None:
    mine, server = brought
    ring.kept[SERVICE, "gpt-4o"] = KEY
    asyncio.run(judge_probes.test(mine, "gpt-4o"))
    assert server.headers
    assert KEY not in str(server.headers)
    kept_keys.remember_key(mine, "gpt-4o", KEY)
    asyncio.run(judge_probes.test(mine, "gpt-4o"))
    assert KEY in str(server.headers)


def test_a_key_kept_by_a_judges_name_goes_only_where_that_judge_was_made(tmp_path: Path, ring: Ring) -> None:
    project = small_project(tmp_path)
    judges.add(project, "old", base_url="https://one.example/v1", model="m")
    ring.kept[SERVICE, "old"] = KEY
    assert kept_keys.key_of(project, judges.named(project, "old")) == KEY
    judge = judges.named(project, "old")
    judges.change(project, judge.id, {"base_url": "https://two.example/v1"})
    assert kept_keys.key_of(project, judges.named(project, "old")) is None
    project.close()


@pytest.mark.parametrize(
    "settings",
    [
        {"parameters": json.dumps({"api_key": "local-1234"})},
        {"parameters": json.dumps({"extra_headers": {"Authorization": "Bearer abc123def456ghi789"}})},
        {"parameters": json.dumps({"user": KEY})},
        {"key_env": KEY},
        {"base_url": f"https://host.example/{KEY}/v1"},
        {"model": KEY},
    ],
)
def test_a_key_among_a_judges_settings_is_refused_on_entry(tmp_path: Path, settings: dict[str, str]) -> None:
    project = small_project(tmp_path)
    with pytest.raises(Refusal) as refused:
        judges.add(project, "j", **{"base_url": "https://host.example/v1", "model": "m"} | settings)
    assert KEY not in str(refused.value)
    project.close()


def test_a_release_is_refused_that_would_hold_a_key(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    with at_work(OddServer()) as server:
        judges.add(project, "j", base_url=server.url, model="m")
        asyncio.run(judge_runs.run(project, RunRequest("j")))
    with project.store.write():
        sql.alter(project, "UPDATE judge SET parameters = ?", [json.dumps({"user": KEY})])
    with pytest.raises(Refusal, match=r"judges\.json"):
        releases.export(project, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    project.close()


def test_addresses_of_endpoints_stay_unless_they_are_asked_for(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    with at_work(OddServer()) as server:
        host = server.url.removeprefix("http://").removesuffix("/v1")
        server.script(error(400, f"upstream http://{host}/v1 says no"))
        judges.add(project, "j", base_url=server.url, model="m")
        asyncio.run(judge_runs.run(project, RunRequest("j")))
    releases.export(project, tmp_path / "out")
    files = [path.read_text(encoding="utf-8") for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert any('"judge_id"' in text for text in files)
    assert not any(host in text for text in files)
    project.close()


@pytest.mark.parametrize("form", ["whole", "part", "backwards", "base64", "base64 of a header"])
async def test_a_key_that_a_server_echoes_in_any_form_is_not_kept(form: str) -> None:
    echoed = {
        "whole": KEY,
        "part": KEY[5:16],
        "backwards": KEY[::-1],
        "base64": b64encode(KEY.encode()).decode(),
        "base64 of a header": b64encode(f"user:{KEY}".encode()).decode(),
    }[form]
    with at_work(OddServer()) as server:
        for said in (completion(f"It is {echoed}."), error(401, f"Wrong: {echoed}")):
            server.script(said)
            async with Client(Endpoint(server.url, "m", KEY)) as client:
                kept = repr(await client.attempt({"model": "m", "messages": []}))
            middle = echoed[len(echoed) // 2 - 4 : len(echoed) // 2 + 4]
            assert middle not in kept


def test_what_is_packed_twice_is_no_text() -> None:
    page = gzip.compress(b"<html><body><p>Words on a page, and many more of them.</p></body></html>" * 50)
    for kind in ("text/html", "text/plain", "application/json"):
        found = reading.read(page, kind)
        assert (found.text, bool(found.unreadable)) == ("", True)


def test_a_page_is_read_within_ten_seconds() -> None:
    assert ReadingProcess()._seconds <= 10


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measured where the system tells")
async def test_a_page_is_read_within_512_megabytes() -> None:
    most = [0]

    async def watch(worker: ReadingProcess) -> None:
        while True:
            with suppress(OSError, AttributeError, ValueError):
                told = Path(f"/proc/{worker._process.pid}/status").read_text("utf-8")  # type: ignore[union-attr]
                most.append(int(told.split("VmHWM:")[1].split()[0]) * 1024)
            await asyncio.sleep(0.01)

    async with ReadingProcess() as worker:
        await worker.read(b"<p>Words.</p>", "text/html")
        watching = asyncio.ensure_future(watch(worker))
        found = await worker.read(_bomb(900), "application/pdf")
        watching.cancel()
    assert found.unreadable
    assert 0 < max(most) <= 512 * 2**20


def _bomb(megabytes: int) -> bytes:
    """A PDF of a few kilobytes whose only page unpacks to so much."""
    packer = zlib.compressobj(1)
    once = b"".join(packer.compress(b" " * 2**20) for _ in range(megabytes)) + packer.flush()
    stream = zlib.compress(once)
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R >>",
        b"<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n%s\nendstream"
        % (len(stream), stream),
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, part) for number, part in enumerate(parts, 1))
    return b"%PDF-1.4\n" + body + b"trailer\n<< /Root 1 0 R /Size 5 >>\n%%EOF"
