"""Commands of a windowed program, which Windows gives no streams."""

import subprocess
import sys

import pytest

WINDOWED = """
import sys
from annotator.__main__ import main
sys.argv = ["goldsmith", {words}]
sys.stdin = sys.stdout = sys.stderr = None
code = main()
open({told!r}, "w", encoding="utf-8").write(f"{{code}}")
"""


@pytest.mark.parametrize(
    ("words", "code"),
    [("'--help'", "0"), ("'judge', 'list', 'no.goldsmith'", "1"), ("'child'", "1"), ("'x'", "2")],
)
def test_a_command_without_any_stream_ends_as_it_does_with_them(tmp_path, words, code) -> None:
    told = tmp_path / "told"
    script = WINDOWED.format(words=words, told=str(told))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, cwd=tmp_path)
    assert (done.stderr, told.read_text("utf-8")) == (b"", code)
