"""Commands of a windowed program, which Windows gives no streams."""

import subprocess
import sys

WINDOWED = """
import sys
from annotator.__main__ import main
codes = []
for words in (["--help"], ["judge", "list", "no.goldsmith"], ["child"], ["x"]):
    sys.argv = ["goldsmith", *words]
    sys.stdin = sys.stdout = sys.stderr = None
    codes.append(main())
open("told", "w", encoding="utf-8").write(f"{codes}")
"""


def test_a_command_without_any_stream_ends_as_it_does_with_them(tmp_path) -> None:
    done = subprocess.run([sys.executable, "-c", WINDOWED], capture_output=True, check=False, cwd=tmp_path)
    assert (done.stderr, (tmp_path / "told").read_text("utf-8")) == (b"", "[0, 1, 1, 2]")
