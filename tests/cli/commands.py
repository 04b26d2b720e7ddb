"""What commands say: in words, in JSON, where they refuse, and with which exit code."""

import json
from typing import Any

import pytest

from annotator.cli import run_command

Capsys = pytest.CaptureFixture[str]


def goldsmith(capsys: Capsys, *words: object) -> tuple[int, str, str]:
    capsys.readouterr()
    code = run_command([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def printed(capsys: Capsys, *words: object, code: int = 0) -> str:
    ended, out, err = goldsmith(capsys, *words)
    assert ended == code, err
    return out


def told(capsys: Capsys, *words: object, code: int = 0) -> Any:
    return json.loads(printed(capsys, *words, "--json", code=code))


def refused(capsys: Capsys, *words: object) -> str:
    code, _, err = goldsmith(capsys, *words)
    assert code == 1, err
    return err
