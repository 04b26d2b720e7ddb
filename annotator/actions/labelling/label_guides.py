"""By what words people answer under each protocol: the labelling guideline, or the text that comes with a protocol."""

from annotator import places
from annotator.actions.authoring import guidelines
from annotator.actions.labelling.label_rows import COVERAGE
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage


def text(project: Project, protocol: str) -> str:
    """Markdown; coverage is labelled by the guideline in force, which a coordinator may write."""
    if protocol == COVERAGE:
        return guidelines.text_in_force(project, Stage.LABELLING)
    path = places.resources() / "guidelines" / "labelling" / f"{protocol}.md"
    return path.read_text("utf-8") if path.is_file() else ""
