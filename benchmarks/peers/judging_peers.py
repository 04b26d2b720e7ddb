"""What others do with the questions of a judge run: `openai` in a thread pool, promptfoo, inspect_ai."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from shutil import which

THREADS, PROMPTFOO, INSPECT = "openai in a thread pool", "promptfoo", "inspect_ai"
_INSTALL_S = 900
_THREADS = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from openai import OpenAI
url, path, at_once = sys.argv[1:]
bodies = [json.loads(line) for line in open(path, encoding="utf-8")]
client = OpenAI(base_url=url, api_key="none", max_retries=0)
def ask(body):
    return json.loads(client.chat.completions.create(**body).choices[0].message.content)
with ThreadPoolExecutor(int(at_once)) as pool:
    verdicts = list(pool.map(ask, bodies))
"""
_INSPECT = """
import json, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import includes
from inspect_ai.solver import generate
url, path, at_once = sys.argv[1:]
samples = []
for line in open(path, encoding="utf-8"):
    system, user = (message["content"] for message in json.loads(line)["messages"])
    samples.append(Sample(input=[ChatMessageSystem(content=system), ChatMessageUser(content=user)], target="yes"))
task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=includes())
own = {"api_key": "none", "responses_api": False}
many = {"max_connections": int(at_once), "max_samples": int(at_once)}
(log,) = eval(task, model="openai/test-model", model_base_url=url, model_args=own, **many,
              display="none", log_dir=path + ".logs")
assert log.status == "success", log.error
"""


def peers(requests: Path, url: str, at_once: int, folder: Path | None) -> dict[str, Callable[[], object]]:
    """The other sides: each sends all the requests, so many at once. One that cannot be installed is left out.

    Without a folder to install them into only the one is there that needs no more than the program does.
    """
    words = [url, str(requests), str(at_once)]
    result: dict[str, Callable[[], object]] = {THREADS: lambda: run([sys.executable, "-c", _THREADS, *words])}
    if folder is None:
        return result
    promptfoo, inspect = _promptfoo(folder / "promptfoo"), _inspect(folder / "inspect")
    if promptfoo:
        config = str(promptfoo_config(requests, url))
        quiet = ["--no-cache", "--no-write", "--no-table", "--no-progress-bar"]
        command = [str(promptfoo), "eval", "-c", config, "-j", str(at_once), *quiet]
        result[PROMPTFOO] = lambda: run(command)
    if inspect:
        result[INSPECT] = lambda: run([str(inspect), "-c", _INSPECT, *words])
    return result


def _promptfoo(folder: Path) -> Path | None:
    """Its command, installed by npm when it is not there."""
    command = folder / "node_modules" / ".bin" / ("promptfoo.cmd" if os.name == "nt" else "promptfoo")
    npm = which("npm")
    if command.exists():
        return command
    folder.mkdir(parents=True, exist_ok=True)
    install = [npm or "npm", "install", "--no-audit", "--no-fund", "promptfoo"]
    return command if _installed(PROMPTFOO, [install] if npm else [], folder) else None


def _inspect(folder: Path) -> Path | None:
    """The Python of an environment of its own, made by pip when it is not there."""
    commands = folder / ("Scripts" if os.name == "nt" else "bin")
    python = commands / "python"
    if (commands / "inspect").exists():
        return python
    folder.mkdir(parents=True, exist_ok=True)
    made = [sys.executable, "-m", "venv", str(folder)]
    install = [str(python), "-m", "pip", "install", "-q", "inspect-ai", "openai"]
    return python if _installed(INSPECT, [made, install], folder) else None


def _installed(name: str, commands: list[list[str]], folder: Path) -> bool:
    """Whether all of some commands went well; it is printed why one did not."""
    reason = "" if commands else "what installs it is not here"
    for words in commands:
        if not reason:
            print(f"installing: {' '.join(words)}", flush=True)
            reason = _fault(words, folder)
    if reason:
        print(f"{name} is left out: {reason}", flush=True)
    return not reason


def _fault(words: list[str], folder: Path) -> str:
    """Why a command failed; empty when it did not."""
    try:
        done = subprocess.run(words, check=False, capture_output=True, cwd=folder, timeout=_INSTALL_S)
    except subprocess.TimeoutExpired:
        return f"it was not done within {_INSTALL_S} s"
    said = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    return (said[-1] if said else f"exit code {done.returncode}") if done.returncode else ""


def promptfoo_config(requests: Path, url: str) -> Path:
    """The same questions as promptfoo takes them: one prompt, a test for each question."""
    tests = []
    for line in requests.read_text(encoding="utf-8").splitlines():
        system, user = (message["content"] for message in json.loads(line)["messages"])
        tests.append({"vars": {"rules": system, "question": user}})
    system, user = (f"{{{{ {name} | dump | safe }}}}" for name in ("rules", "question"))
    prompt = f'[{{"role": "system", "content": {system}}}, {{"role": "user", "content": {user}}}]'
    config = {
        "prompts": [prompt],
        "providers": [{"id": "openai:chat:test-model", "config": {"apiBaseUrl": url, "apiKey": "none"}}],
        "defaultTest": {"assert": [{"type": "contains", "value": "yes"}]},
        "tests": tests,
    }
    path = requests.with_suffix(".promptfoo.json")
    path.write_text(json.dumps(config), encoding="utf-8")
    return path


def run(words: list[str]) -> None:
    """Run a peer out of the way of its own telemetry, updates and old results."""
    with tempfile.TemporaryDirectory(prefix="goldsmith-bench-", ignore_cleanup_errors=True) as folder:
        quiet = {
            "PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": folder,
            "PROMPTFOO_DISABLE_DEBUG_LOG": "1", "PROMPTFOO_DISABLE_ERROR_LOG": "1", "OPENAI_API_KEY": "none",
        }  # fmt: skip
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(words, check=False, capture_output=True, env=plain | quiet, cwd=folder)
    if done.returncode:
        raise SystemExit(f"{words[0]}: {done.stderr.decode()[-2000:] or done.stdout.decode()[-2000:]}")
