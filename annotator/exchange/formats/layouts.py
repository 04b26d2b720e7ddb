"""The table of supported benchmark layouts."""

from annotator.domain.kinds.artifact import Kind
from annotator.exchange.formats import arena_tasks, deepscholar, human_files, researcherbench
from annotator.exchange.formats.layout import FileLayout, LabelLayout

LAYOUTS: dict[str, FileLayout] = {
    layout.name: layout
    for layout in (
        FileLayout(
            name=researcherbench.DATASET,
            title="ResearcherBench",
            holds="questions.json, rubric.json and responses/",
            numbers=researcherbench.own_numbers,
            read=researcherbench.read,
            files=researcherbench.files,
            labels=human_files.LABELS,
            kind=Kind.RUBRIC,
            marks=(("questions.json", "rubric.json"), ("questions.json", "responses"), ("eval_data",)),
        ),
        FileLayout(
            name=deepscholar.DATASET,
            title="DeepScholar-Bench",
            holds="papers_with_related_works.csv, citations.csv, nuggets and folders of systems",
            read=deepscholar.read,
            files=deepscholar.files,
            of_papers=deepscholar.of_papers,
            scored=True,
            kind=Kind.NUGGETS,
            marks=(("papers_with_related_works.csv",),),
        ),
        FileLayout(
            name=arena_tasks.NAME,
            title="DeepResearch Arena",
            holds="tasks of seminars, one a line, as JSON or CSV",
            read=arena_tasks.read,
            files=arena_tasks.files,
            dataset=arena_tasks.DATASET,
            kind=Kind.TASKS,
            marks=(("tasks.jsonl",),),
        ),
    )
}


def of_labels() -> dict[str, tuple[str, LabelLayout]]:
    """The layouts with labels, by name: the title of each, and its label layout."""
    return {
        name: (layout.title, layout.labels) for name, layout in LAYOUTS.items() if layout.labels is not None
    }


def of_papers() -> FileLayout:
    return next(layout for layout in LAYOUTS.values() if layout.of_papers is not None)
