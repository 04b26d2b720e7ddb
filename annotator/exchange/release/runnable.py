"""Files to run a release in Inspect AI and in the LM Evaluation Harness, and Inspect's logs read back."""

import json
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, BaseModel, Field, ValidationError

from annotator import __version__
from annotator.domain.common import Refusal, canonical_json, derived_id, sha256, storable
from annotator.domain.judges.judge import YES, JudgeKind, RaterKind, RunState, Status, Verdict
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.redaction import redact
from annotator.exchange.folders import CORRECT, Content, decoded, pretty, read_bytes, slug, slugs, within
from annotator.exchange.release.bundle import Bundle, BundleReader, Problem, in_words
from annotator.exchange.release.data_card import ReleaseFacts
from annotator.exchange.release.records import (
    ArtifactRecord,
    ExtractRecord,
    ItemRecord,
    JudgementRecord,
    JudgeRecord,
    MetricRecord,
    ResponseRecord,
    RunRecord,
    ScoreRecord,
    SystemRecord,
)
from annotator.places import resources
from annotator.protocols import PROTOCOLS, USUAL_OF
from annotator.protocols.several import with_quote

# The version of the schema of Every Eval Ever used for records.
EVAL_SCHEMA = "0.2.2"
SAMPLES, PROMPT = "samples.jsonl", "grader.md"
SHIPPED = ("inspect_task.py", "lm_eval/goldsmith_reports.yaml", "lm_eval/utils.py")
# The beginning of a log of Inspect; as an archive it holds a header and a file for each sample.
LOG = re.compile(rb'\s*\{\s*"version":\s*\d+,\s*"status":\s*"')
HEADER, SAMPLE = "header.json", re.compile(r"samples/[^/]+\.json")
LARGEST_LOG = 512 * 1024 * 1024
DAMAGED = (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, OSError, EOFError, ValueError)


def files(bundle: Bundle, facts: ReleaseFacts) -> dict[str, Content]:
    """A task for each harness with its questions and criteria, and with the canary in a field of its own."""
    samples, canary, encryption = (
        list(_samples(bundle, facts.gold)),
        facts.publication.canary,
        facts.encryption,
    )
    if not samples:
        return {}
    protocol, folder = USUAL_OF[Kind.RUBRIC], resources()
    prompt = protocol.prompts[0]
    wordings = [record.versions[-1].text for record in bundle.prompts if record.name == prompt]
    texts = {PROMPT: wordings[0] if wordings else (folder / "prompts" / f"{prompt}.md").read_text("utf-8")}
    for path in SHIPPED:
        texts[path] = (folder / "release" / path).read_text("utf-8").replace("@protocol@", protocol.name)
    marked = {"canary": canary} if canary else {}
    trees = (encryption.record(sample | marked) if encryption else sample | marked for sample in samples)
    return {
        SAMPLES: b"".join(canonical_json(tree) + b"\n" for tree in trees),
        **{path: text.encode() for path, text in texts.items()},
    }


def _samples(bundle: Bundle, gold: Collection[str]) -> Iterator[dict[str, Any]]:
    """The items that have criteria, in the project's order."""
    there: tuple[ArtifactRecord | ExtractRecord, ...] = (*bundle.artifacts, *bundle.extracts)
    rubrics = [one for one in there if one.kind == Kind.RUBRIC and one.id in gold]
    units = {rubric.item_id: rubric.document["units"] for rubric in rubrics}
    for item in sorted(bundle.items, key=lambda record: (record.position, record.key, record.id)):
        criteria = [
            {name: unit[name] for name in ("id", "text", "weight")} for unit in units.get(item.id, ())
        ]
        if criteria:
            about = item.model_dump(mode="json", include={"key", "question", "language"})
            yield {**about, "item_id": item.id, "criteria": criteria}


def eval_records(bundle: Bundle, facts: ReleaseFacts) -> dict[str, Content]:
    """A record of Every Eval Ever for each system: its publishable scores over all items.

    Evaluator and developer are unknown, so the relation is “other”; the moment is that of the last run or document.
    """
    moments = [one.ended_at or one.started_at for one in bundle.runs] + [one.at for one in bundle.artifacts]
    stamp = str(int(max(moments).timestamp())) if moments else "0"
    metadata, metrics = (
        facts.publication.metadata,
        {(one.protocol, one.metric): one for one in bundle.metrics},
    )
    judges = {one.name: one for one in bundle.judges if one.model}
    prompts = {one.name: one.versions[-1].text for one in bundle.prompts}
    of = (
        {"source_type": "url", "url": [metadata.homepage]}
        if metadata.homepage
        else {"source_type": "other", "source_version": metadata.version}
    )
    source = {"dataset_name": facts.title, **of}
    about = {
        "source_name": facts.title,
        "source_type": "evaluation_run",
        "source_organization_name": "; ".join(
            author.affiliation or author.name for author in metadata.authors
        )
        or facts.title,
        "evaluator_relationship": "other",
    }
    stems, made = slugs(system.name for system in bundle.systems), dict[str, Content]()
    for system in bundle.systems:
        scores = [
            one
            for one in bundle.scores
            if one.system == system.name and one.group == "all" and one.value is not None and not one.unfit
        ]
        results = [
            {
                "evaluation_result_id": f"{one.protocol}/{one.metric}/{one.rater}",
                "evaluation_name": facts.title,
                "source_data": source,
                "metric_config": _metric(one, metrics[one.protocol, one.metric], judges, prompts),
                "score_details": _score(one),
            }
            for one in scores
        ]
        stem = stems[system.name].lower()
        record = {
            "schema_version": EVAL_SCHEMA,
            "evaluation_id": f"{slug(facts.title).lower()}/{stem}/{stamp}",
            "retrieved_timestamp": stamp,
            "source_metadata": about,
            "eval_library": {"name": "goldsmith", "version": __version__},
            "model_info": {"name": system.name, "id": stem},
            "evaluation_results": results,
        }
        if results:
            made[f"every_eval_ever/{stem}.json"] = pretty(record)
    return made


def _metric(
    score: ScoreRecord, metric: MetricRecord, judges: Mapping[str, JudgeRecord], prompts: Mapping[str, str]
) -> dict[str, Any]:
    """The definition of the figure, with the model and prompt that judged it."""
    judge, asked = (
        judges.get(score.rater),
        PROTOCOLS[score.protocol].prompts if score.protocol in PROTOCOLS else (),
    )
    texts = [prompts[name] for name in asked if name in prompts]
    of_judge = {}
    if judge and texts:
        models = [{"model_info": {"name": judge.name, "id": judge.model}}]
        of_judge = {"llm_scoring": {"judges": models, "input_prompt": "\n\n".join(texts)}}
    share = not metric.unit and 0 <= (score.value or 0) <= 1
    return {
        "evaluation_description": metric.definition,
        "metric_id": f"{score.protocol}.{score.metric}",
        "metric_name": metric.title,
        "metric_unit": metric.unit or "proportion",
        "lower_is_better": not metric.higher_is_better,
        **({"score_type": "continuous", "min_score": 0, "max_score": 1} if share else {}),
        **of_judge,
    }


def _score(score: ScoreRecord) -> dict[str, Any]:
    """The value with its interval; everything but numbers is in the details, which are texts."""
    interval = {"lower": score.low, "upper": score.high, "confidence_level": 0.95, "method": score.method}
    known = {"confidence_interval": interval} if score.low is not None and score.high is not None else {}
    details = {"rater": score.rater, "missing": str(score.missing), "note": score.note, "gold": score.gold}
    return {
        "score": score.value,
        "details": {name: words for name, words in details.items() if words},
        "uncertainty": {**known, "num_samples": score.n},
    }


@dataclass(frozen=True, slots=True)
class KnownTask:
    """The project's entities that a log may refer to: items by id and by key, systems by name, judges' ids.

    `criteria` are those of an item, by id, with their document and their words; `trials` are those of the reports, by
    id, of a system on an item.
    """

    items: Mapping[str, ItemRecord]
    criteria: Mapping[str, Mapping[str, tuple[str, str]]]
    systems: Mapping[str, str] = field(default_factory=dict)
    trials: Mapping[tuple[str, str], Mapping[str, int]] = field(default_factory=dict)
    judges: Collection[str] = ()


class _Part(BaseModel, frozen=True, extra="ignore", allow_inf_nan=True, coerce_numbers_to_str=True):
    """A part of a log; Inspect's other fields are ignored."""


class _Usage(_Part):
    output_tokens: int | None = None
    total_tokens: int | None = None


class _Output(_Part):
    model: str = ""
    completion: str = ""
    usage: _Usage | None = None
    time: float | None = None


class _Judged(_Part):
    """A grader's verdict on a criterion."""

    id: str
    text: str
    value: str | None
    status: Status
    quote: str = ""
    rationale: str = ""
    cause: str = ""


class _Graded(_Part):
    protocol: str
    grader: str
    prompt_sha256: str = ""
    judgements: list[_Judged]


class _Sample(_Part):
    id: str
    uuid: str | None = None
    epoch: int = 1
    input: Any = ""
    output: _Output = _Output()
    metadata: dict[str, Any] = Field(default_factory=dict)
    scores: dict[str, dict[str, Any]] | None = None
    error: Any = None


class _Eval(_Part):
    eval_id: str
    created: AwareDatetime
    task: str
    model: str
    model_roles: dict[str, Any] | None = None
    model_generate_config: dict[str, Any] = Field(default_factory=dict)
    packages: dict[str, str] = Field(default_factory=dict)


class _Log(_Part):
    status: str
    eval: _Eval
    samples: list[Any] | None = None


def is_log(path: Path) -> bool:
    """Whether a file is a log of Inspect, by its content."""
    if not path.is_file():
        return False
    if path.suffix.lower() == ".eval":
        return zipfile.is_zipfile(path)
    with path.open("rb") as file:
        return bool(LOG.match(file.read(200)))


def read_logs(paths: Sequence[Path], known: KnownTask) -> tuple[Bundle, list[Problem]]:
    """Reports, and judgements by the grader, from logs of this release's task; a sample without an item is
    a problem.
    """
    reader = _LogReader(known)
    for path in paths:
        try:
            reader.read(path.name, _Log.model_validate(_tree(path)))
        except ValidationError as error:
            reader.problem(path.name, None, f"it is no log of Inspect AI: {in_words(error)}")
    total = Counter(record.run_id for record in reader.bundle.judgements)
    done = Counter(record.run_id for record in reader.bundle.judgements if record.status is Status.OK)
    reader.bundle.runs = [
        run.model_copy(update={"total": total[own], "done": done[own]}) for own, run in reader.runs.items()
    ]
    return reader.bundle, reader.problems


def _tree(path: Path) -> Any:
    """The log as one tree; Refusal if it cannot be read."""
    if path.suffix.lower() != ".eval":
        return _parsed(read_bytes(path, path.name, LARGEST_LOG), path.name)
    try:
        with zipfile.ZipFile(path) as archive:
            parts = [info for info in archive.infolist() if SAMPLE.fullmatch(info.filename)]
            if sum(info.file_size for info in archive.infolist()) > LARGEST_LOG:
                raise Refusal(f"“{path.name}” is too large when it is unpacked.", "Evaluate in several runs.")
            header = _parsed(archive.read(HEADER), path.name)
            return {**header, "samples": [_parsed(archive.read(info), path.name) for info in parts]}
    except DAMAGED as error:
        raise Refusal(
            f"“{path.name}” is no log that can be read ({type(error).__name__}).",
            "Write it as JSON and import that: inspect log convert LOG --to json --output-dir FOLDER.",
        ) from None


def _parsed(content: bytes, name: str) -> Any:
    """The tree of a part of a log, in which a number may be NaN."""
    text = decoded(within(content, name, LARGEST_LOG, "Evaluate in several runs."), name)
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        raise Refusal(f"“{name}” is no JSON that can be read.", CORRECT) from None


class _LogReader(BundleReader):
    def __init__(self, known: KnownTask) -> None:
        super().__init__()
        self.known = known
        self.systems, self.judges, self.runs = dict(known.systems), set(known.judges), dict[str, RunRecord]()
        self.used = set[str]()
        self.trials = {of: dict(own) for of, own in known.trials.items()}

    def read(self, file: str, log: _Log) -> None:
        if log.status != "success":
            self.note(file, f"the evaluation ended as “{log.status}”: what it has is read")
        if not log.samples:
            self.problem(file, None, "it holds no samples: evaluate without --no-log-samples")
        for index, raw in enumerate(log.samples or ()):
            with self.reporting(file, index):
                self._sample(file, index, _Sample.model_validate(raw), log.eval)

    def _system(self, name: str) -> str:
        if name not in self.systems:
            self.systems[name] = derived_id("inspect system", name)
            self.bundle.systems.append(SystemRecord(id=self.systems[name], name=name))
        return self.systems[name]

    def _sample(self, file: str, index: int, sample: _Sample, of: _Eval) -> None:
        item_id = str(sample.metadata.get("item_id", ""))
        item = self.known.items.get(item_id) or self.known.items.get(sample.id)
        if item is None:
            self.problem(file, index, f"there is no item {sample.id[:80]} in the project")
        elif item.id != item_id and sample.input != item.question:
            self.problem(
                file, index, f"it asks something else than item {item.key}, which is called the same"
            )
        elif not sample.output.completion.strip():
            why = f": {json.dumps(sample.error, ensure_ascii=False)[:300]}" if sample.error else ""
            self.note(file, f"there is no report on item {item.key}{why}", index)
        else:
            self._add(file, index, sample, of, item)

    def _add(self, file: str, index: int, sample: _Sample, of: _Eval, item: ItemRecord) -> None:
        """Add the report, as the next trial unless it exists, and the graders' verdicts on it; once over all logs."""
        own = derived_id("inspect report", sample.uuid or of.eval_id, sample.id, sample.epoch)
        if own in self.used:
            return
        self.used.add(own)
        system = self._system(of.model)
        trials = self.trials.setdefault((item.id, system), {})
        text, usage, taken = (
            storable(sample.output.completion),
            sample.output.usage or _Usage(),
            trials.values(),
        )
        trial = trials.setdefault(own, next(n for n in range(1, len(taken) + 2) if n not in taken))
        settings = {"task": of.task, "inspect_ai": of.packages.get("inspect_ai"), **of.model_generate_config}
        prompt = sample.input if isinstance(sample.input, str) and sample.input != item.question else ""
        record = ResponseRecord(
            id=own, item_id=item.id, system_id=system, text=text, trial=trial, latency_s=sample.output.time,
            tokens=usage.output_tokens, run_tokens=usage.total_tokens, collected_on=of.created.date(),
            product_version=sample.output.model[:200], asked=sha256(prompt) if prompt else "",
            settings=", ".join(f"{name} {value}" for name, value in settings.items() if value)[:2000],
        )  # fmt: skip
        self.add("responses", record, file, index)
        for score in (sample.scores or {}).values():
            if details := (score.get("metadata") or {}).get("goldsmith"):
                self._graded(file, index, _Graded.model_validate(details), of, item, (own, text))

    def _graded(
        self, file: str, index: int, graded: _Graded, of: _Eval, item: ItemRecord, report: tuple[str, str]
    ) -> None:
        if graded.protocol not in PROTOCOLS:
            self.problem(file, index, f"there is no protocol “{graded.protocol[:80]}”")
            return
        known = self.known.criteria.get(item.id, {})
        run, judge = self._run(graded, of)
        for one in graded.judgements:
            document, words = known.get(one.id, ("", ""))
            if not document:
                self.problem(file, index, f"item {item.key} has no criterion {one.id[:80]}")
            elif words != one.text:
                self.problem(file, index, f"criterion {one.id[:80]} of item {item.key} was reworded since")
            elif one.value not in (None, *PROTOCOLS[graded.protocol].scale.names):
                self.problem(file, index, f"“{str(one.value)[:80]}” is not a value of {graded.protocol}")
            else:
                verdict = _verdict(one, report[1])
                record = JudgementRecord(
                    **verdict.model_dump(exclude={"flags"}), flags=verdict.flags.split(), run_id=run,
                    protocol=graded.protocol, item_id=item.id, response_id=report[0], artifact_id=document,
                    unit_id=one.id, rater_kind=RaterKind.JUDGE, rater_id=judge, at=of.created,
                )  # fmt: skip
                self.add("judgements", record, file, index)

    def _run(self, graded: _Graded, of: _Eval) -> tuple[str, str]:
        """The ids of the run and of its judge, who is named after the grader's model."""
        roles = [one for one in (of.model_roles or {}).values() if isinstance(one, dict)]
        config = (
            next((role.get("config") for role in roles if role.get("model") == graded.grader), None) or {}
        )
        parameters = {name: value for name, value in config.items() if value is not None}
        judge = derived_id("inspect judge", graded.grader, canonical_json(parameters).decode())
        run = derived_id("inspect run", of.eval_id, judge, graded.protocol)
        if judge not in self.judges:
            self.judges.add(judge)
            self.bundle.judges.append(
                JudgeRecord(
                    id=judge, name=graded.grader[:120], kind=JudgeKind.ENDPOINT, model=graded.grader,
                    parameters=parameters,
                )
            )  # fmt: skip
        self.runs[run] = RunRecord(
            id=run, judge_id=judge, protocol=graded.protocol, state=RunState.DONE, total=0, done=0,
            prompt_sha256=graded.prompt_sha256, started_at=of.created,
        )  # fmt: skip
        return run, judge


def _verdict(one: _Judged, text: str) -> Verdict:
    """The verdict with its quote in the report's words; a missing one, with its cause."""
    if one.value is None or one.status is not Status.OK:
        status = Status.INVALID if one.status is Status.OK else one.status
        return Verdict(value=None, status=status, cause=redact(storable(one.cause)))
    quote, rationale = storable(one.quote), storable(one.rationale)
    return with_quote(one.value, rationale, quote, text, (), owed=one.value == YES)
