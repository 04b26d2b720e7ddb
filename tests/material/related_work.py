"""A made benchmark in DeepScholar's layout: two papers, their citations and nuggets, and five systems."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SHARED = Path(__file__).parents[2] / "../shared/data/deepscholar"
FIRST, SECOND = "2506.00001v1", "2506.00002v1"
ABSTRACTS = {FIRST: "Trees cool\nstreets in summer.", SECOND: "Quakes are found early."}
PAPERS = [
    {
        "arxiv_id": FIRST,
        "title": "On trees\nin towns",
        "abstract": ABSTRACTS[FIRST],
        "categories": "cs.AI, econ.GN",
        "published_date": "2025-06-03T13:06:19+00:00",
        "clean_latex_related_works": "Shade matters \\cite{oak}. Others \\citep{elm,ash}. % \\cite{birch}\n",
    },
    {
        "arxiv_id": SECOND,
        "title": "Early warning",
        "abstract": ABSTRACTS[SECOND],
        "categories": "physics.geo-ph",
        "published_date": "2025-06-04T00:00:00+00:00",
        "clean_latex_related_works": "Waves \\citet{wave} travel.",
    },
]


def cited(paper: str, key: str, title: str, **more: Any) -> dict[str, Any]:
    return {"parent_paper_arxiv_id": paper, "citation_shorthand": key, "cited_paper_title": title, **more}


CITATIONS = [
    cited(FIRST, "oak", "Oaks", cited_paper_arxiv_link="http://arxiv.org/abs/2001.00001v2",
          cited_paper_abstract="About oaks.", bib_paper_authors="Li, A; Mo, B", bib_paper_year="2020.0",
          bib_paper_doi="10.1000/oak", bib_paper_url="https://oak.example.org/a"),
    cited(FIRST, "elm", "Elms\nand ash", bib_paper_doi="10.1000/elm", bib_paper_year="nan",
          bib_paper_url="https://doi.org/10.1000/elm"),
    cited(FIRST, "ash", "", bib_paper_url="https://ash.example.org/a"),
    cited(SECOND, "wave", "Waves", cited_paper_arxiv_link="http://arxiv.org/abs/2001.00001v1",
          cited_paper_abstract="About oaks, again."),
]  # fmt: skip
NUGGETS = [
    {"text": "Shade cools", "importance": "vital", "assignment": "support"},
    {"text": "Elms grow", "importance": "okay", "assignment": "partial_support"},
    {"text": "Water matters", "importance": "vital", "assignment": "not_support"},
]


def table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)


def tree(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def text(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def write(folder: Path) -> Path:
    """The whole benchmark in a folder: each system's layout once, all on the first paper."""
    table(folder / "papers_with_related_works.csv", PAPERS)
    table(folder / "citations.csv", CITATIONS)
    nuggets = {"qid": FIRST, "query": "Write.", "nuggets": NUGGETS}
    # Folders of nuggets nest and their numbers mean nothing.
    tree(folder / "gt_nuggets_outputs" / "14" / "20" / "res.json", nuggets)
    base = folder / "systems" / "base" / "0"
    text(base / "intro.md", "Shade \\[[Oak](http://arxiv.org/abs/2001.00001v2)\\].")
    table(base / "paper.csv", [{"id": "2001.00001v2", "title": "Oaks", "url": "http://arxiv.org/abs/2001.00001v2",
                                "snippet": "About oaks."}])  # fmt: skip
    tree(base / "helper_data.json", {"query": f"Your task … {ABSTRACTS[FIRST]}"})
    text(base / "execution_time.csv", "a, sem_topk, 365.2, {}\na, base_pipeline, 484.5, {'x': 1}\n")
    same = {"total_tokens": 9, "total_cost": 0.5}
    tree(base / "usage.json", {"lotus": same, "helper": dict(same)})
    text(base / "config.json", json.dumps({"api_key": "a-secret-of-somebody"}))
    storm = folder / "systems" / "storm" / "0" / "2025-06-10_Your_task"
    text(storm / "storm_gen_article.md", "Trees [1].\n\n[1] Oaks")
    tree(storm / "url_to_info.json", {"url_to_unified_index": {"http://arxiv.org/abs/2001.00001v1": 1},
                                      "url_to_info": {}})  # fmt: skip
    tree(
        storm / "usage.json",
        {
            "time": {"plan": 1.5, "write": 2.0},
            "lm_cost": {one: {"llama": {"total_tokens": 5, "cost": 0}} for one in "abc"},
        },
    )
    search = folder / "systems" / "search" / "0"
    text(search / "Your task is.md", "Oaks [1].\n\nReferences\n[1] Oaks http://arxiv.org/abs/2001.00001v2")
    context = {"title": "Oaks", "url": "http://arxiv.org/abs/2001.00001v2", "text": "About oaks."}
    tree(search / "Your task is.json", {"query": ABSTRACTS[FIRST], "latency": 4.5, "ctxs": [context],
                                        "usage": {"total_tokens": 11, "total_cost_usd_dollar": 0.25}})  # fmt: skip
    scholar = folder / "systems" / "scholar" / "0"
    tree(scholar / "On trees.json", {"abstract": ABSTRACTS[FIRST], "output": "Elms [0, 1].", "ranked_results": {},
                                     "cost": {"physical tokens": 7, "physical cost": 0.0},
                                     "ctxs": [{"id": "13141470", "title": "", "text": "elms"},
                                              {**context, "text": "oak trees"}, context]})  # fmt: skip
    research = folder / "systems" / "research" / "0"
    tree(research / "1_Trees.json", {"abstract": ABSTRACTS[FIRST], "output": "Cut off [3", "latency": "46.5",
                                     "token_count": "8785", "ctxs": [context]})  # fmt: skip
    return folder
