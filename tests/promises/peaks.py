"""The most bytes that an export of each profile holds at once: `python -m tests.promises.peaks PROJECT ...`."""

import json
import sys
import tempfile
import tracemalloc
from contextlib import closing
from pathlib import Path

from annotator.actions.project.file import Project
from annotator.actions.releases import releases

# The release itself; of the papers' layouts, which are made of what it gathers, the one with scores; the tables.
PROFILES = (releases.GOLDSMITH, "deepscholar", releases.CSV)


def peaks(project: Project, folder: Path, traced: bool) -> dict[str, int]:
    """Peaks by profile; 0 of the first project, whose exports load what the others need, and untraced sooner."""
    found = {}
    for profile in PROFILES:
        if traced:
            tracemalloc.start()
        releases.export(project, folder / profile, profile)
        found[profile] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found


if __name__ == "__main__":
    found = []
    for path in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder, closing(Project.open(Path(path))) as project:
            found.append(peaks(project, Path(folder), bool(found)))
    print(json.dumps(found))
