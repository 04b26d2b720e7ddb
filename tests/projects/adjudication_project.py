"""Projects to be adjudicated: fifteen criteria against seventeen in three scripts, and labels of five reports."""

from pathlib import Path

from annotator.actions.project.file import Project
from annotator.domain.kinds.rubric import Rubric
from tests.projects.pairs_project import COVERAGE, add_report, labels, pairs_project, rubric, submit, work_as
from tests.templates import once

Criteria = tuple[tuple[str, int], ...]
# Line by line: the first three are the same, the fourth to the ninth the same but for words or weight, then each
# writes of things that the other leaves out, the last of Ada's being one of Ben's in other words.
ADA: Criteria = (
    ("Explains how attribution ties each claim in a long answer to the passage that supports it", 3),
    ("Names at least one public dataset of long-form answers with verified citations", 2),
    ("Describes how citation precision and citation recall are computed from sentence-level judgements", 2),
    ("Compares synthetic questions with questions written by domain experts in at least two respects", 2),
    ("Discusses why people disagree when they verify citations, and how much they disagree", 1),
    ("Identifies the cost of verification by people as the main limit on the size of benchmarks", 2),
    ("Explains that entailment models miss claims which several passages support only together", 3),
    ("Provides a figure for the share of generated statements that are fully supported", 2),
    ("Outlines how retrieval failures and generation failures can be told apart", 1),
    ("Analyzes whether longer answers are cited less accurately than shorter ones", 2),
    ("Mentions the licence under which the benchmark's passages may be redistributed", 1),
    ("Describes what a reader sees when a citation points to a page that has since changed", 1),
    ("Compares post-hoc attribution with attribution that is built in while writing", 3),
    ("Explains why a quotation that is copied exactly can still misrepresent its source", 2),
    ("Discusses multilingual sources: whether a claim in one language may cite another", 1),
)
BEN: Criteria = (
    ADA[0],
    ADA[1],
    ADA[2],
    ("Compares synthetic questions with questions that domain experts wrote, in at least two respects", 2),
    ("Discusses why people disagree when they verify citations, and how much they disagree", 3),
    ("Identifies the cost of human verification as the main limit on the size of benchmarks", 2),
    ("Explains that entailment models miss claims which several passages support only jointly", 2),
    ("Provides a number for the share of generated statements that are fully supported", 2),
    ("Outlines how failures of retrieval and failures of generation can be told apart", 2),
    ("Analyzes whether longer answers are cited less accurately than shorter ones", 1),
    ("States which passages of the corpus were withheld from the systems under test", 2),
    ("Identifies at least one system that refuses to answer when nothing supports an answer", 2),
    ("Contrasts adding references after the text is finished with citing during generation", 3),
    ("Describes how near-duplicate passages are handled when recall is computed", 1),
    ("Explains what happens to the score when a claim carries more citations than it needs", 2),
    ("Names the agreement statistic that was used between the people who verified", 1),
    ("Outlines one way in which automatic and human verification could be combined", 2),
)
CHINESE: tuple[Criteria, Criteria] = (
    (
        ("解释反渗透海水淡化的能耗主要来自哪些环节，并给出每立方米产水的典型能耗数值", 3),
        ("比较反渗透与多级闪蒸在能耗、投资和维护三个方面的差异", 2),
        ("说明浓盐水排放对近岸海洋生态的影响，并引用至少一项实地观测研究", 2),
        ("指出能量回收装置能够降低多少能耗", 1),
        ("讨论可再生能源供电的间歇性如何影响膜的寿命", 2),
    ),
    (
        ("解释反渗透海水淡化的能耗主要来自哪些环节，并给出每吨产水的典型能耗数值", 3),
        ("比较反渗透与多级闪蒸在能耗、投资和维护三个方面的差异", 2),
        ("说明浓盐水排放对近岸生态的影响，并引用至少两项实地观测研究", 3),
        ("描述预处理工艺的选择依据", 1),
    ),
)
ARABIC: tuple[Criteria, Criteria] = (
    (
        ("يشرح كيف تربط الإحالات كل ادعاء في الإجابة الطويلة بالمقطع الذي يدعمه", 3),
        ("يقارن بين الأسئلة المولدة آليا والأسئلة التي كتبها الخبراء من وجهين على الأقل", 2),
        ("يذكر مجموعة بيانات عامة واحدة على الأقل مثل ASQA أو ELI5", 1),
        ("يناقش كلفة التحقق البشري", 2),
    ),
    (
        ("يشرح كيف تربط المراجع كل ادعاء في الإجابة الطويلة بالفقرة التي تدعمه", 3),
        ("يقارن بين الأسئلة المولدة آليا والأسئلة التي كتبها خبراء المجال من وجهين على الأقل", 3),
        ("يذكر مجموعة بيانات عامة واحدة على الأقل مثل ASQA أو ELI5", 1),
    ),
)


def contested_project(folder: Path, questions: int = 1) -> Project:
    """An item of fifteen criteria against seventeen, sealed and frozen; Cleo works."""
    project = pairs_project(folder, questions)
    submit(project, pair(ADA, BEN))
    return work_as(project, "Cleo")


@once
def scripts_project(folder: Path) -> Project:
    """Three items: long English, Chinese and Arabic criteria; Cleo works."""
    project = pairs_project(folder, 3)
    submit(project, pair(ADA, BEN))
    submit(project, pair(*CHINESE), 1)
    submit(project, pair(*ARABIC), 2)
    return work_as(project, "Cleo")


@once
def labels_project(folder: Path, reports: int = 5, criteria: int = 15) -> Project:
    """Labels of so many reports by a sealed rubric, every fifth one contested; Cleo works."""
    project = pairs_project(folder)
    submit(project, pair(ADA[:criteria], ADA[:criteria]))
    said: dict[str, dict[str, str]] = {
        add_report(project, f"Canary-System-{number}"): {f"a{n}": "yes" for n in range(1, criteria + 1)}
        for number in range(reports)
    }
    other = {
        report: {unit: "no" if n % 5 == 0 else value for n, (unit, value) in enumerate(values.items())}
        for report, values in said.items()
    }
    submit(project, {"Ada": joined(said), "Ben": joined(other)})
    return work_as(project, "Cleo")


def joined(said: dict[str, dict[str, str]]):
    documents = [labels(report, values) for report, values in said.items()]
    return documents[0].with_units(tuple(unit for document in documents for unit in document.units))


def pair(first: Criteria, second: Criteria) -> dict[str, Rubric]:
    return {"Ada": rubric(first, "a"), "Ben": rubric(second, "b")}


__all__ = ["COVERAGE", "contested_project", "labels_project", "scripts_project"]
