"""The questions of this benchmark for the LM Evaluation Harness, and its logged replies as a table of reports."""

import json
import sys
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).parent.parent / "samples.jsonl"


def load(**_: Any) -> dict[str, Any]:
    from datasets import Dataset

    items = rows(SAMPLES)
    return {"test": Dataset.from_list([{name: item[name] for name in ("key", "question")} for item in items])}


def rows(path: Path) -> list[dict[str, Any]]:
    # Not splitlines, which parts a text at separators that JSON leaves as they are.
    text = path.read_text("utf-8")
    if '"goldsmith-encrypted:' in text:
        raise ValueError(
            "The test items are encrypted: run “python decode.py FOLDER” and evaluate that folder."
        )
    return [json.loads(line) for line in text.split("\n") if line]


def answered(_doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Whether the model wrote anything; what it is worth is judged elsewhere."""
    return {"answered": float(bool(results[0].strip()))}


def main(model: str, *logs: str) -> None:
    """Print a line for each report that was logged: item, system and the text."""
    for log in logs:
        for sample in rows(Path(log)):
            report = {"item": sample["doc"]["key"], "system": model, "report": sample["resps"][0][0]}
            sys.stdout.buffer.write((json.dumps(report, ensure_ascii=False) + "\n").encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
