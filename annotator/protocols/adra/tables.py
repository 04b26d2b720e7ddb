"""The tables and figures of ADRA that can be computed from a project's data."""

from annotator.domain.judges.paper import (
    Down,
    PaperTable,
    Spread,
    SystemsTable,
    TableColumn,
    TablePart,
    TableReading,
    Unprinted,
    ViewTable,
)
from annotator.domain.material.item import INJECTION, ISOLATED

KINDS = "source_kind"
ACCURACY = {
    "Planning": "plan.jaccard",
    "Retrieval": "retrieval.accuracy",
    "Reasoning": "reasoning.accuracy",
}
SPREAD = (
    "What stands small beside the paper's figures is not explained there: here it is the standard deviation of a "
    "system's mean over its runs, and nothing while it has one run."
)
AVERAGE = "Avg. is the mean over all items; the paper has as many research papers as reviews, where both come to one."
CITING = TableReading(
    "citing", "Precision of reports that cite", {"retrieval.precision": "retrieval.precision.citing"}
)
ALL_GIVEN = "Precision, recall and F1 of retrieval are given for research papers too, where the paper leaves them open."


def part(title: str) -> TablePart:
    """The four figures that the paper prints for a module."""
    prefix = ACCURACY[title].partition(".")[0]
    rest = (TableColumn(name, f"{prefix}.{name.lower()}") for name in ("Precision", "Recall", "F1"))
    return TablePart(title, (TableColumn("Accuracy", ACCURACY[title]), *rest))


def printed(*titles: str, mode: str = "", down: Down = Down.SYSTEMS) -> tuple[SystemsTable]:
    """Research, review and average side by side."""
    parts, readings = tuple(map(part, titles)), (CITING,) if "Retrieval" in titles else ()
    return (SystemsTable(parts, KINDS, spread=Spread.DEVIATION, mode=mode, down=down, readings=readings),)


def domains(module: str, mode: str = "") -> ViewTable:
    """A module's accuracy by domain, system by system."""
    chosen = (("metric", ACCURACY[module]), *([("mode", mode)] if mode else []))
    return ViewTable("domains", "domains", chosen=chosen, title=module)


def front(module: str, cost: str, title: str) -> ViewTable:
    """A module's accuracy against the cost of a report."""
    columns = (
        ("system", "Model"),
        (ACCURACY[module].replace(".", "_"), "Accuracy"),
        (cost, title),
        (f"worth_{cost}", "On the front?"),
    )
    return ViewTable(
        "efficiency",
        "efficiency",
        columns,
        (("metric", ACCURACY[module]),),
        f"{module} against {title.lower()}",
    )


TABLES = (
    PaperTable(
        "end-to-end",
        "Planning, retrieval and reasoning end to end",
        ("Table 2",),
        printed(*ACCURACY),
        (SPREAD, AVERAGE, ALL_GIVEN),
        data="plans and statements, judged; references; `--choose reading=citing` leaves reports that cite "
        "nothing out of precision",
    ),
    PaperTable(
        "domain-profile",
        "Systems by domain",
        ("Figure 2",),
        (domains("Retrieval"), domains("Reasoning")),
        data="the same, by subject",
    ),
    PaperTable(
        "trade-offs",
        "Accuracy against time and tokens",
        ("Figure 3",),
        (
            front("Retrieval", "latency", "Time"),
            front("Reasoning", "latency", "Time"),
            front("Reasoning", "tokens", "Length"),
        ),
        data="the same, with the time and tokens of responses",
    ),
    PaperTable(
        "gold-plan",
        "Retrieval and reasoning with the gold plan given",
        ("Table 3",),
        printed("Retrieval", "Reasoning", mode=INJECTION),
        (SPREAD, AVERAGE, ALL_GIVEN),
        data="responses of the mode “gold-plan injection”",
    ),
    PaperTable(
        "isolated-planning",
        "Planning of models alone",
        ("Table 4", "Table 12"),
        printed("Planning", mode=ISOLATED),
        (SPREAD, AVERAGE),
        data="responses of the mode “isolated”; groups of systems",
    ),
    PaperTable(
        "isolated-reasoning",
        "Reasoning of models alone",
        ("Table 5", "Table 13"),
        printed("Reasoning", mode=ISOLATED),
        (SPREAD, AVERAGE),
        data="responses of the mode “isolated”; groups of systems",
    ),
    PaperTable(
        "time-limit",
        "With and without a limit on the date of sources",
        ("Table 6",),
        printed("Retrieval", "Reasoning", down=Down.LIMITED),
        (SPREAD, AVERAGE, ALL_GIVEN),
        data="responses with a cut-off (`goldsmith respond --cutoff`, Items → Reports) beside those without "
        "one; `--choose mode=NAME` where several modes have a cut-off",
    ),
    PaperTable(
        "best-of-runs",
        "Pass@1 and pass@3",
        ("Table 7", "Figure 4"),
        (
            SystemsTable(
                tuple(
                    TablePart(title, tuple(TableColumn(f"pass@{k}", metric, best_of=k) for k in (1, 3)))
                    for title, metric in ACCURACY.items()
                ),
                KINDS,
            ),
        ),
        (AVERAGE,),
        data="three runs of a system",
    ),
    PaperTable(
        "recent-sources",
        "Recent sources and all of them",
        ("Table 8", "Table 9"),
        (
            SystemsTable(
                (part("Retrieval"), part("Reasoning")),
                average="",
                down=Down.PUBLISHED,
            ),
        ),
        (
            "Recent are the items with a source that was published after the month that is chosen; the paper takes the "
            "end of a model's training data.",
        ),
        data="publication dates of sources; `--choose after=2025-03`",
    ),
    PaperTable(
        "domain-means",
        "Accuracy by domain over all systems",
        ("Table 10",),
        (
            ViewTable(
                "domains",
                "domains",
                (("domain", "Domain"), ("all_systems", "Mean accuracy"), ("margin", "95 % CI margin")),
                (("metric", ACCURACY["Reasoning"]),),
            ),
        ),
        data="statements, judged; subjects",
    ),
    PaperTable(
        "costs",
        "Cost of a task and of the benchmark",
        ("Table 11",),
        (
            SystemsTable(
                (
                    TablePart(
                        "",
                        (
                            TableColumn("Average cost per task", "cost"),
                            TableColumn("Total cost", "cost", total=True),
                        ),
                    ),
                )
            ),
        ),
        (
            "The total is over the items of which a cost is known, several runs of an item counted as their mean.",
        ),
        data="costs of responses",
    ),
    PaperTable(
        "isolated-domains",
        "Models alone by domain",
        ("Figure 5",),
        (domains("Reasoning", ISOLATED),),
        data="responses of the mode “isolated”",
    ),
    PaperTable(
        "tokens-and-time",
        "Length of reports against time",
        ("Section 3.4",),
        (
            ViewTable("length", "length", chosen=(("of", "tokens"), ("metric", "latency"))),
            ViewTable("length", "correlations", chosen=(("of", "tokens"), ("metric", "latency"))),
        ),
        data="tokens and time of responses",
    ),
    PaperTable(
        "preference-agreement",
        "Scores against experts' preferences",
        ("Section 5.4",),
        (ViewTable("preferences", "agreement"),),
        data="people's preferences between two reports",
    ),
    PaperTable(
        "gold-statistics",
        "Length of plans and balance of statements",
        ("Appendix H.1",),
        (ViewTable("gold", "gold"),),
        data="settled plans and diagnostics",
    ),
    PaperTable(
        "preference-judges",
        "Two judges' preferences beside each other",
        ("Appendix K.4",),
        (ViewTable("between", "between", chosen=(("protocol", "adra.preference"),)),),
        (
            "Each order of a pair that was asked counts as one comparison; the paper does not say in which orders it "
            "asked.",
        ),
        data="reports compared in pairs by two judges, in several runs",
    ),
    PaperTable(
        "plan-length",
        "Length of gold plans against accuracy",
        ("Appendix K.2",),
        (ViewTable("length", "correlations", chosen=(("of", "plan"), ("metric", ACCURACY["Reasoning"]))),),
        data="settled plans; statements, judged",
    ),
)
UNPRINTED = (Unprinted(("Figure 1", "Table 1"), "the method, and other benchmarks"),)
ABOUT_TABLES = (
    "A mode other than end-to-end comes with the responses. Columns are by the kind of an item's source (research or "
    "review), or by question type while no source says its kind."
)
