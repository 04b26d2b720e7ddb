"""Forty careless changes, planted one at a time in a copy of the checkout, and whether the tests notice each.

`python -m benchmarks.planted_faults [--only NAME …] [--out FILE.json]`; all of them take about half an hour.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks import measuring

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 240


class Fault(NamedTuple):
    """A piece of code, what stands in its place, and the tests that should notice it: the likeliest first, then all."""

    name: str
    file: str
    code: str
    instead: str
    tests: str


class Result(NamedTuple):
    """What became of a fault: killed, survived, gone, ambiguous, timed out or not run; and what tells so."""

    name: str
    file: str
    outcome: str
    detail: str
    seconds: int


FAULTS = (
    Fault(
        "elo, the loser gains",
        "annotator/stats/ranking/standings.py",
        "result[matches.second] -= moved",
        "result[matches.second] += moved",
        "tests/stats/ranking/test_ranking.py tests/stats/ranking",
    ),
    Fault(
        "a tie counts as a choice",
        "annotator/stats/ranking/standings.py",
        "for own, other in clear if own != TIE]",
        "for own, other in clear]",
        "tests/stats/ranking/test_ranking.py tests/stats/ranking",
    ),
    Fault(
        "correlation at another level",
        "annotator/stats/agreement/levels.py",
        "NormalDist().inv_cdf(0.5 + LEVEL / 2) * sqrt(spread)",
        "NormalDist().inv_cdf(LEVEL) * sqrt(spread)",
        "tests/stats/agreement/test_coefficients.py tests/stats/agreement",
    ),
    Fault(
        "rank without Bonferroni",
        "annotator/stats/validation/correction.py",
        "1 - (1 - self.level) / max(1, n - 1)",
        "self.level",
        "tests/stats/validation/test_comparison.py tests/stats/validation tests/actions/validation/test_validation.py",
    ),
    Fault(
        "AC1, wrong denominator",
        "annotator/stats/agreement/agreement.py",
        "alike.sum() / (size * (size - 1))",
        "alike.sum() / (size * size)",
        "tests/stats/agreement/test_coefficients.py tests/stats/agreement",
    ),
    Fault(
        "Holm counts what was not tested",
        "annotator/stats/intervals/clustered.py",
        "(len(tested) - place) * p",
        "(len(ps) - place) * p",
        "tests/stats/intervals/test_intervals.py tests/stats/intervals",
    ),
    Fault(
        "paired difference, sign",
        "annotator/stats/intervals/student.py",
        "value = other.value - estimate.value if",
        "value = estimate.value - other.value if",
        "tests/stats/intervals/test_intervals.py tests/stats/intervals",
    ),
    Fault(
        "one work with two DOIs",
        "annotator/stats/matching/matching.py",
        "and j not in taken and not different_works(of_a[i], of_b[j])",
        "and j not in taken",
        "tests/stats/matching/test_matching.py tests/stats/matching tests/protocols/adra",
    ),
    Fault(
        "coverage, missing counts as no",
        "annotator/protocols/researcherbench/coverage.py",
        "judged = fsum(max(w, 0) for (w, _), b_i in zip(pairs, b, strict=True) if b_i is not None)",
        "judged = fsum(max(w, 0) for w, _ in pairs)",
        "tests/protocols/researcherbench/test_coverage.py tests/protocols/researcherbench",
    ),
    Fault(
        "faithfulness, unknown counts as no",
        "annotator/protocols/researcherbench/factual.py",
        "counts[YES] + counts[NO], counts[None]",
        "counts[YES] + counts[NO] + counts[UNKNOWN], counts[None]",
        "tests/protocols/researcherbench/test_factual.py tests/protocols/researcherbench",
    ),
    Fault(
        "win rate, pairs that are known lost",
        "annotator/protocols/researcherbench/pairwise.py",
        "wins / (len(orders) - open_)",
        "wins / judged",
        "tests/protocols/researcherbench/test_factual.py tests/protocols/researcherbench",
    ),
    Fault(
        "cannot-tell counts as false",
        "annotator/protocols/adra/reasoning.py",
        "not label and value == FALSE for",
        "not label and value != TRUE for",
        "tests/protocols/adra/test_retrieval.py tests/protocols/adra",
    ),
    Fault(
        "preference, a tie counts as a win",
        "annotator/protocols/adra/preference.py",
        "wins, missing = result.count(FIRST), result.count(None)",
        "wins, missing = result.count(FIRST) + result.count(TIE), result.count(None)",
        "tests/protocols/adra/test_adra.py tests/actions/results/test_overview.py tests/protocols/adra",
    ),
    Fault(
        "key points that were dropped",
        "annotator/protocols/arena/alignment.py",
        "[unit for unit in material.units(part) if unit.counts]",
        "list(material.units(part))",
        "tests/protocols/arena/test_key_points.py tests/protocols/arena",
    ),
    Fault(
        "marks that lead to nothing",
        "annotator/protocols/deepscholar/precision.py",
        "for one in (*verdicts, *[False] * sentence.dangling)]",
        "for one in verdicts]",
        "tests/protocols/deepscholar/test_sentences.py tests/protocols/deepscholar",
    ),
    Fault(
        "vital coverage over all nuggets",
        "annotator/protocols/deepscholar/nuggets.py",
        "for vital, value in labels if vital or not reading.vital]",
        "for _, value in labels]",
        "tests/protocols/deepscholar/test_sentences.py tests/protocols/deepscholar",
    ),
    Fault(
        "a failed transaction stays",
        "annotator/storage/store.py",
        'self._raw.execute("ROLLBACK")',
        'self._raw.execute("COMMIT")',
        "tests/storage/test_store.py tests/storage",
    ),
    Fault(
        "hash of a row not compared",
        "annotator/storage/integrity.py",
        "if stored != row_hash(*values):",
        "if not stored:",
        "tests/storage/test_store.py tests/storage",
    ),
    Fault(
        "backups after a clock set back",
        "annotator/storage/backup.py",
        "set(ordered[-1:]) | {at for at in ordered if at > now}",
        "set(ordered[-1:])",
        "tests/storage/test_store.py tests/storage",
    ),
    Fault(
        "a newer format is opened",
        "annotator/storage/opening.py",
        "if schema > SCHEMA:",
        "if schema > SCHEMA + 1:",
        "tests/storage/test_opening.py tests/storage/test_store.py tests/storage",
    ),
    Fault(
        "undo takes another's change",
        "annotator/actions/undo/history.py",
        "and_(AUDIT.c.by == project.by, edits, AUDIT.c.undoes.is_(None))",
        "and_(edits, AUDIT.c.undoes.is_(None))",
        "tests/actions/undo",
    ),
    Fault(
        "a ruling on other values stands",
        "annotator/actions/validation/disagreements.py",
        "by is not None and (by.judge_value, by.label_value) == (one.judge_value, one.label_value)",
        "by is not None",
        "tests/actions/validation/test_validation.py tests/actions/validation",
    ),
    Fault(
        "duels of all trials together",
        "annotator/actions/studies/pair_views.py",
        "*([j.trial == trial] if trial else [])",
        "",
        "tests/actions/attacks/test_attacking.py tests/actions/attacks tests/actions/studies",
    ),
    Fault(
        "retired items wait",
        "annotator/actions/labelling/label_sealing.py",
        "~to_submit(), ITEM.c.retired.is_(False))",
        "~to_submit())",
        "tests/actions/labelling/test_labels.py tests/actions/labelling",
    ),
    Fault(
        "who labelled may adjudicate",
        "annotator/actions/assignments/assignments.py",
        "labelled.where(*_only(JUDGEMENT.c.item_id, item_id)).distinct(),",
        "",
        "tests/actions/assignments tests/actions/adjudication",
    ),
    Fault(
        "an annotator reads the discussion",
        "annotator/actions/consensus/consensus.py",
        "known.person.has(Role.COORDINATOR) and adjudication.item_id not in known.own",
        "known.person.has(Role.COORDINATOR)",
        "tests/actions/adjudication/test_adjudicating.py tests/actions/adjudication",
    ),
    Fault(
        "passed over without a reason",
        "annotator/actions/adjudication/ruling.py",
        "row.take in row.members and len(row.members) > 1 and not row.unanimous",
        "row.take in row.members and len(row.members) > 2 and not row.unanimous",
        "tests/actions/adjudication/test_rulings.py tests/actions/adjudication",
    ),
    Fault(
        "the other order, not mirrored",
        "annotator/actions/results/scoring.py",
        "(two, rater, one, other.get(value, value))",
        "(two, rater, one, value)",
        "tests/actions/results/test_overview.py tests/actions/results tests/actions/studies",
    ),
    Fault(
        "an annotator sees each rater",
        "annotator/actions/results/result_raters.py",
        "project.person is None or project.person.has(Role.COORDINATOR)",
        "True",
        "tests/actions/results/test_results.py tests/actions/results",
    ),
    Fault(
        "another's draft is dropped",
        "annotator/actions/authoring/artifacts.py",
        'DRAFT.c.place == bindparam("at_place"), DRAFT.c.person_id == bindparam("of_person")',
        'DRAFT.c.place == bindparam("at_place")',
        "tests/actions/authoring/test_artifacts.py tests/actions/authoring tests/actions/project",
    ),
    Fault(
        "chain of returned work not compared",
        "annotator/actions/parcels/unpacking.py",
        "!= came.sha256 or (number, link) != ( came.number, came.chain, )",
        "!= came.sha256",
        "tests/actions/parcels/test_known_keys.py tests/actions/parcels",
    ),
    Fault(
        "begun reports are not left to do",
        "annotator/gui/pages/labelling/bench.py",
        "return task.labelled < task.units",
        "return not task.labelled",
        "tests/gui/labelling/test_label_page.py tests/gui/labelling",
    ),
    Fault(
        "labels lead to another page",
        "annotator/gui/session/session.py",
        'else "Label", item_id=item_id',
        'else "Author", item_id=item_id',
        "tests/gui/pages/test_inbox_page.py tests/gui/pages",
    ),
    Fault(
        "the last answer has no key",
        "annotator/gui/review/verdict_words.py",
        "ACTS[: len(known) - 1]",
        "ACTS[: len(known) - 2]",
        "tests/gui/labelling/test_label_page.py tests/gui/labelling",
    ),
    Fault(
        "typing is lost on leaving",
        "annotator/gui/pages/authoring/page.py",
        "self.sheet.saving.keep() self._spend()",
        "self._spend()",
        "tests/gui/authoring/test_author_typing.py tests/gui/authoring",
    ),
    Fault(
        "estimate of another order",
        "annotator/gui/session/run.py",
        "if child is self._child and order == self.order:",
        "if child is self._child:",
        "tests/gui/judges/test_running.py tests/gui/judges",
    ),
    Fault(
        "acts that would end a blind vote",
        "annotator/gui/pages/adjudication/row_card.py",
        "setVisible(ballot is None and not locked)",
        "setVisible(not locked)",
        "tests/gui/adjudication/test_adjudicate_page.py tests/gui/adjudication",
    ),
    Fault(
        "board shows everybody",
        "annotator/gui/pages/people/board_view.py",
        'self.person_id in ("", line.person_id)',
        "line.person_id",
        "tests/gui/pages/test_inbox_page.py tests/gui/pages",
    ),
    Fault(
        "find counts from 0",
        "annotator/gui/widgets/reading/find_bar.py",
        '"{at + 1:,} of {many}"',
        '"{at:,} of {many}"',
        "tests/gui/widgets/test_report_view.py tests/gui/widgets",
    ),
    Fault(
        "takes back what another page did",
        "annotator/gui/session/session.py",
        "if seen is not None and seen.page == page:",
        "if seen is not None:",
        "tests/gui/pages/test_project_pages.py tests/gui/pages tests/gui/labelling",
    ),
)


def copied(target: Path) -> None:
    """Copy what git tracks, as it lies in the checkout now."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def places(copy: Path, fault: Fault) -> list[tuple[Path, re.Match[str]]]:
    """Where the piece stands: in the file that is named, else anywhere in the program; however its lines are broken."""
    form = re.compile(r"\s+".join(map(re.escape, fault.code.split())))
    named = copy / fault.file
    for files in ([named] if named.is_file() else [], sorted((copy / "annotator").rglob("*.py"))):
        if result := [(file, match) for file in files for match in form.finditer(file.read_text("utf-8"))]:
            return result
    return []


def tried(copy: Path, fault: Fault) -> tuple[str, str]:
    """Plant a fault, run its tests and put the file back; the outcome and its detail."""
    result = places(copy, fault)
    if len(result) != 1:
        return ("ambiguous" if result else "gone"), f"the piece stands {len(result)} times"
    file, match = result[0]
    file.write_text(match.string[: match.start()] + fault.instead + match.string[match.end() :], "utf-8")
    try:
        for tests in fault.tests.split():
            outcome, detail = tested(copy, tests)
            if outcome == "killed":
                break
    finally:
        shutil.copy2(ROOT / file.relative_to(copy), file)
    return outcome, detail


def tested(copy: Path, tests: str) -> tuple[str, str]:
    """Run tests in the copy until the first fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", tests]
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(copy), "COLUMNS": "200"}
    try:
        run = subprocess.run(command, cwd=copy, env=env, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "timed out", f"after {SECONDS} s"
    lines = run.stdout.decode("utf-8", "replace").splitlines()
    failed = next((line for line in lines if line.startswith(("FAILED ", "ERROR "))), " ".join(lines[-3:]))
    # What pytest exits with when all passed, and when a test failed; whatever else it says, nothing was measured.
    return {0: ("survived", ""), 1: ("killed", failed)}.get(run.returncode, ("not run", failed))


def main() -> int:
    """Try the faults and tell of each what noticed it; a quick run tells whether each still has its place."""
    known = measuring.parser(__doc__)
    known.add_argument("--only", nargs="+", metavar="NAME", choices=[fault.name for fault in FAULTS])
    known.add_argument("--out", type=Path, metavar="FILE.json")
    wanted = known.parse_args()
    if wanted.quick:
        lost = [fault.name for fault in FAULTS if len(places(ROOT, fault)) != 1]
        print(
            f"{len(FAULTS) - len(lost)} of {len(FAULTS)} faults have one place; without: {', '.join(lost) or 'none'}"
        )
        return measuring.verdict(wanted, {}) or int(bool(lost))
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="goldsmith-faults-") as folder:
        copied(Path(folder))
        for fault in (fault for fault in FAULTS if not wanted.only or fault.name in wanted.only):
            start = time.monotonic()
            outcome, detail = tried(Path(folder), fault)
            results.append(Result(fault.name, fault.file, outcome, detail, round(time.monotonic() - start)))
            print(f"{outcome:9}  {results[-1].seconds:3} s  {fault.name:34}  {detail}", flush=True)
            if wanted.out:
                rows = [result._asdict() for result in results]
                wanted.out.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", "utf-8")
    killed = sum(result.outcome == "killed" for result in results)
    print(f"{killed} of {len(results)} killed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
