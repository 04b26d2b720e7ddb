"""What commands say: in words, in JSON, where they refuse, and with which exit code."""

import json
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from annotator.cli import run_command
from annotator.domain.texts.refusal import Refusal

Capsys = pytest.CaptureFixture[str]


def goldsmith(capsys: Capsys, *words: object) -> tuple[int, str, str]:
    capsys.readouterr()
    code = run_command([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def printed(capsys: Capsys, *words: object, code: int = 0) -> str:
    """What a command prints."""
    ended, out, err = goldsmith(capsys, *words)
    assert ended == code, err
    return out


def told(capsys: Capsys, *words: object, code: int = 0) -> Any:
    """What a command says in JSON."""
    return json.loads(printed(capsys, *words, "--json", code=code))


def refused(capsys: Capsys, *words: object) -> str:
    """Why a command does nothing."""
    code, _, err = goldsmith(capsys, *words)
    assert code == 1, err
    return err


def invoked(app: typer.Typer, *words: object) -> tuple[int, str]:
    """The exit code of one app's command and what was said; a refusal is raised."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if isinstance(result.exception, Refusal):
        raise result.exception
    return result.exit_code, result.stdout
