"""What mkdocs asks of us: the pages that lie outside docs/, without a second copy of any of them."""

import re
import tomllib
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

HERE = Path(__file__).parents[1]
PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["project"]
# What the About page says of the machine that it is shown on.
ABOUT = {"version": PROJECT["version"], "python": "3.11 or newer", "qt": "6", "folder": "shown in the window"}
BESIDE = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CITATION.cff", "LICENSE")
# Where files of the checkout are in the manual: links are written so that they work in the checkout.
MOVED = re.compile(r"(?<=\]\()(?:\.\./)?(resources/help/|docs/|(?=[A-Z_]+\b))")
PLACES = {"resources/help/": "manual/"}
# In a table of GitHub's a bar within code needs a backslash; in one of mkdocs' it would be shown.
BAR = re.compile(r"(?<=\w)\\\|(?=[\w-])")


def on_files(files: Any, config: Any) -> Any:
    """Add README as the first page, the help that the window shows, and what lies at the root."""
    pages = {"index.md": HERE / "README.md"} | {name: HERE / name for name in BESIDE}
    shown = sorted((HERE / "resources/help").rglob("*.*"))
    pages |= {f"manual/{path.relative_to(HERE / 'resources/help').as_posix()}": path for path in shown}
    for name, path in pages.items():
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Point links at where their files are in the manual, and fill in what About says of a machine."""
    if page.file.src_uri == "manual/about.md":
        return markdown.format_map(ABOUT)
    if page.file.src_uri.startswith("manual/"):
        return markdown
    return MOVED.sub(lambda found: PLACES.get(found[1], ""), BAR.sub("|", markdown))
