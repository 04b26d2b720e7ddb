"""Judges of a project: the baseline, those behind endpoints, and derived ones."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, insert, select, update

from annotator.actions.project.file import Project, commit, record
from annotator.domain.common import Change, Refusal, derived_id, new_id, one_of, required, sha256
from annotator.domain.judges.judge import SECRET, Judge, JudgeKind, Price, PricedAsking
from annotator.domain.material.item import CONTINUATION
from annotator.domain.stored import JudgeFields
from annotator.domain.texts.redaction import key_in_settings, looks_like_key
from annotator.judging.calls import keys
from annotator.storage.tables import CONTEST, JUDGE, JUDGEMENT, RESPONSE, SYSTEM

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
BASELINE = Judge(id=derived_id("judge", "baseline"), name="baseline", kind=JudgeKind.BASELINE)


_OWN_HEADERS = {
    "host",
    "content-type",
    "content-length",
    "transfer-encoding",
    "connection",
    "accept-encoding",
}


@dataclass(frozen=True, slots=True)
class Preset:
    """The usual settings of a provider: its address, the variable that holds its key, and a note on it.

    A preset is only a proposal: it sends no key anywhere.
    """

    name: str
    title: str
    base_url: str
    variable: str = ""
    note: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)


_AZURE = {"api-key": "{key}"}
PRESETS = (
    Preset("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    Preset(
        "anthropic", "Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY",
        "It pays no heed to a JSON Schema; replies are asked for in words then.",
    ),
    Preset(
        "google", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY",
        "Thinking counts as output.",
    ),
    Preset("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    Preset("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "It takes JSON, but no schema."),
    Preset("perplexity", "Perplexity", "https://api.perplexity.ai", "PERPLEXITY_API_KEY", "It names its sources."),
    Preset(
        "openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY",
        "Models are named with their provider, as in mistralai/mistral-small; it tells the cost of each call.",
    ),
    Preset("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Preset("together", "Together", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    Preset(
        "azure", "Azure OpenAI", "https://RESOURCE.openai.azure.com/openai/v1", "AZURE_OPENAI_API_KEY",
        "Write your resource into the address; the model is the name of your deployment.", _AZURE,
    ),
    Preset(
        "azure-classic", "Azure OpenAI by deployment",
        "https://RESOURCE.openai.azure.com/openai/deployments/DEPLOYMENT", "AZURE_OPENAI_API_KEY",
        "Write your resource and deployment into the address.", _AZURE, {"api-version": "2024-10-21"},
    ),
    Preset(
        "ollama", "Ollama on this machine", "http://127.0.0.1:11434/v1", "",
        "It cuts long prompts in silence unless OLLAMA_CONTEXT_LENGTH is large enough; Test shows it.",
    ),
    Preset("vllm", "vLLM on this machine", "http://127.0.0.1:8000/v1"),
    Preset("lmstudio", "LM Studio on this machine", "http://127.0.0.1:1234/v1"),
    Preset("llamacpp", "llama.cpp on this machine", "http://127.0.0.1:8080/v1"),
)  # fmt: skip


def preset_of(name: str) -> Preset:
    return one_of(name, {preset.name: preset for preset in PRESETS}, f"There is no preset “{name}”.")


def all_of(project: Project) -> list[Judge]:
    """The judges in use, the baseline first, even before it has judged anything."""
    in_use = JUDGE.c.retired.is_(False) & (JUDGE.c.kind != JudgeKind.WRITER.value)
    rows = project.query(select(JUDGE).where(in_use).order_by(JUDGE.c.name)).mappings().all()
    result = [Judge(**row) for row in rows]
    if not any(judge.kind == JudgeKind.BASELINE for judge in result):
        result.append(BASELINE)
    return sorted(result, key=lambda judge: (judge.kind != JudgeKind.BASELINE, judge.name))


def named(project: Project, name: str) -> Judge:
    """The judge of that name; the Refusal lists the existing names."""
    known = all_of(project)
    for judge in known:
        if judge.name == name:
            return judge
    names = ", ".join(f"“{judge.name}”" for judge in known)
    raise Refusal(f"There is no judge “{name}” in this project.", f"Use one of {names}, or add it first.")


def stored(project: Project, judge: Judge) -> Judge:
    """Store the judge as it is and return it (the baseline is stored with its first run)."""
    with project.store.write() as db:
        row = db.execute(select(JUDGE).where(JUDGE.c.id == judge.id)).mappings().first()
        if row is None:
            refuse_taken(project, judge.name, judge.id)
            db.execute(insert(JUDGE).values(**judge.model_dump()))
        elif Judge(**row) != judge:
            db.execute(update(JUDGE).where(JUDGE.c.id == judge.id).values(**judge.model_dump(exclude={"id"})))
    return judge


def refuse_taken(project: Project, name: str, judge_id: str = "") -> None:
    """Refuse a name that another judge has, even a retired one, a writer, or the baseline before it is stored."""
    rows = project.query(select(JUDGE.c.id, JUDGE.c.retired).where(JUDGE.c.name == name)).all()
    taken: dict[str, bool] = {row.id: row.retired for row in rows if row.id != judge_id}
    if taken and all(taken.values()):
        raise Refusal(
            f"A retired judge is already named “{name}”.", "Choose another name, or restore that judge."
        )
    if taken or (name == BASELINE.name and judge_id != BASELINE.id):
        raise Refusal(f"A judge named “{name}” already exists.", "Choose another name.")


def add(
    project: Project,
    name: str,
    *,
    base_url: str,
    model: str,
    key_env: str = "",
    parameters: str = "{}",
    asking: str = "{}",
    price: Sequence[str] = (),
    preset: str = "",
) -> Change:
    """Add a judge behind an endpoint. No key is asked for here, and none is ever stored in the project.

    By naming both the variable `key_env` and the address, the person allows the one to go to the other from this
    machine. `parameters` is a JSON object sent with each request, `asking` one of how the judge is asked, by default
    with as many units a call as in each protocol's public code; `price` is the price of a million tokens in US dollars:
    input, output and cached, as typed. The address, headers and query parameters of a `preset` are defaults.
    """
    if preset:
        chosen = preset_of(preset)
        base_url = base_url or chosen.base_url
        options = json.loads(asking)
        for place, usual in (("headers", chosen.headers), ("query", chosen.query)):
            options[place] = {**usual, **options.get(place, {})}
        asking = json.dumps(options)
    judge = checked(
        new_id(),
        name=name,
        base_url=base_url,
        model=model,
        key_env=key_env,
        parameters=parameters,
        asking=_priced(asking, price) if any(price) else asking,
    )
    if "together" not in judge.settings.model_fields_set:
        as_usual = judge.settings.model_copy(update={"together": 0})
        judge = judge.model_copy(update={"asking": as_usual.model_dump_json(exclude_defaults=True)})
    refuse_taken(project, name)
    for variable in {judge.key_env, *judge.settings.secrets} - {"", "key"}:
        keys.allow(variable, judge.base_url)
    return commit(
        project,
        Change("judge", judge.id, "add judge", None, judge.model_dump(mode="json")),
        insert(JUDGE).values(**judge.model_dump()),
    )


def change(
    project: Project, judge_id: str, fields: dict[str, str], price: Sequence[str] | None = None
) -> Change:
    """Change a judge's settings. One that has judged keeps its model and endpoint: add another instead.

    `price` is as in `add`; an empty one is deleted, None leaves it as it is.
    """
    old = next((judge for judge in all_of(project) if judge.id == judge_id), None)
    if old is None or old.kind != JudgeKind.ENDPOINT:
        raise Refusal("This judge has no endpoint settings.", "Add a judge behind an endpoint.")
    if old.settings.of:
        raise Refusal(f"“{old.name}” follows the judge it derives from.", "Change that judge.")
    with project.store.write() as db:
        if has_judged(project, judge_id) and any(
            fields.get(name, getattr(old, name)) != getattr(old, name) for name in ("base_url", "model")
        ):
            raise Refusal(
                f"“{old.name}” has already judged with {old.model}.", "Add a new judge for another model."
            )
        if price is not None:
            fields = fields | {"asking": _priced(fields.get("asking", old.asking), price)}
        judge = checked(judge_id, **old.model_dump(exclude={"id", "kind", "retired"}) | fields)
        refuse_taken(project, judge.name, judge_id)
        db.execute(update(JUDGE).where(JUDGE.c.id == judge_id).values(**judge.model_dump(exclude={"id"})))
        after = judge.model_dump(mode="json")
        return record(
            project, db, Change("judge", judge_id, "change judge", old.model_dump(mode="json"), after)
        )


def with_sent(asking: str, headers: str, query: str) -> str:
    """The settings of asking with headers and query parameters, JSON objects as typed; raises Refusal if invalid."""
    try:
        extras = {name: json.loads(text or "{}") for name, text in (("headers", headers), ("query", query))}
        known = PricedAsking.model_validate(json.loads(asking) | extras)
    except ValueError:
        raise Refusal(
            "The headers or query parameters cannot be read.",
            'Write each as a JSON object of names and values, for example {"api-version": "2024-10-21"}. '
            "Nothing was saved.",
        ) from None
    return known.model_dump_json(exclude_defaults=True)


def _priced(asking: str, price: Sequence[str]) -> str:
    """The settings of asking with a price; raises Refusal if it is none."""
    known = PricedAsking.model_validate_json(asking)
    typed = [one.strip().replace(",", ".") or None for one in price]
    try:
        own = (
            Price.model_validate(dict(zip(("input", "output", "cached"), typed, strict=False)))
            if any(typed)
            else None
        )
    except ValidationError:
        raise Refusal(
            "The price cannot be read.",
            "Give US dollars per million tokens in and out, for example 0.15 and 0.60. Nothing was changed.",
        ) from None
    return known.model_copy(update={"price": own}).model_dump_json(exclude_defaults=True)


def restore(project: Project, db: Connection, judge_id: str, present: Any, goal: Any) -> None:
    """Restore a judge's settings; raises Refusal if they were changed since, or it has judged with them."""
    fixed = {"id", "kind", "retired"}
    row = db.execute(select(JUDGE).where(JUDGE.c.id == judge_id)).mappings().one()
    current = Judge(**row).model_dump(mode="json", exclude=fixed)
    if any(current[name] != value for name, value in present.items() if name not in fixed):
        raise Refusal("This judge was changed elsewhere since.", "Look at it again; nothing was undone.")
    if has_judged(project, judge_id) and any(goal[name] != current[name] for name in ("base_url", "model")):
        raise Refusal("It has judged with these settings.", "Add a new judge for others.")
    refuse_taken(project, goal["name"], judge_id)
    values = Judge.model_validate(goal).model_dump(exclude=fixed)
    db.execute(update(JUDGE).where(JUDGE.c.id == judge_id).values(**values))


def has_judged(project: Project, judge_id: str) -> bool:
    of_reports = select(JUDGEMENT.c.id).where(JUDGEMENT.c.rater_id == judge_id).limit(1)
    of_tasks = select(CONTEST.c.id).where(CONTEST.c.rater == judge_id).limit(1)
    with project.store.read() as db:
        return any(db.execute(question).first() is not None for question in (of_reports, of_tasks))


def retire(project: Project, judge_id: str) -> Change:
    return commit(
        project,
        Change("judge", judge_id, "retire judge", None, {"retired": True}),
        update(JUDGE).where(JUDGE.c.id == judge_id).values(retired=True),
    )


def bring_back(project: Project, judge_id: str) -> Change:
    return commit(
        project,
        Change("judge", judge_id, "bring judge back", None, {"retired": False}),
        update(JUDGE).where(JUDGE.c.id == judge_id).values(retired=False),
    )


def checked(judge_id: str, **values: Any) -> Judge:
    """The endpoint judge with these settings and id; the Refusal names the one that does not fit."""
    from annotator.judging.calls.client import checked_url

    try:
        judge = Judge(id=judge_id, **JudgeFields.model_validate(values).model_dump())
        PricedAsking.model_validate_json(judge.asking)
        if not isinstance(json.loads(judge.parameters), dict):
            raise ValueError
    except ValidationError as error:
        first = error.errors()[0]
        what = first["loc"][0] if first["loc"] else "asking"
        raise Refusal(
            f"The judge's {what} does not fit: {first['msg'].lower()}.", "Correct it; nothing was changed."
        ) from None
    except ValueError:
        raise Refusal(
            "The request parameters are not a JSON object.", 'Write for example {"temperature": 0}.'
        ) from None
    if not judge.base_url.startswith(("http://", "https://")):
        raise Refusal(
            "The endpoint is not an http address.", "It starts with https:// and usually ends in /v1."
        )
    # Before it is stored: a password in it would stay in the file.
    judge = judge.model_copy(update={"base_url": checked_url(judge.base_url)})
    refuse_among_settings(judge)
    if not judge.model.strip():
        raise Refusal("The model's name is missing.", "Write it as the endpoint lists it.")
    return judge


def refuse_among_settings(judge: Judge) -> None:
    """Refuse settings that contain a key: they are stored in the project, and leave with it."""
    right = (
        "Enter keys only with “judge key”, in the field “Key”, or by naming a variable. Nothing was saved."
    )
    if judge.key_env and (not VARIABLE.fullmatch(judge.key_env) or looks_like_key(judge.key_env)):
        raise Refusal("That is not the name of an environment variable; it may be a key.", right)
    asking = judge.settings
    plain = {name: SECRET.sub("", value).strip() for name, value in asking.headers.items()}
    plain = {name: "" if value.lower() in ("bearer", "basic") else value for name, value in plain.items()}
    if result := key_in_settings(plain) or key_in_settings(dict(asking.query)):
        raise Refusal(
            f"The headers or query parameters seem to hold a key ({result}).",
            "Write {key} in its place, or the name of an environment variable in braces. Nothing was saved.",
        )
    if taken := {name.lower() for name in asking.headers} & _OWN_HEADERS:
        raise Refusal(f"The header {min(taken)} is the program's own.", "Leave it out; nothing was saved.")
    result = key_in_settings(json.loads(judge.parameters))
    if result:
        raise Refusal(f"The request parameters seem to hold a key ({result}).", right)
    if key_in_settings([judge.base_url, *judge.base_url.split("/")]):
        raise Refusal("The address of the endpoint seems to hold a key.", right)
    if key_in_settings([judge.name, judge.model]):
        raise Refusal("The judge's name or model seems to be a key.", right)


_ROOM_FOR_A_NAME = 100
_ENDPOINT_FIELDS = ("base_url", "model", "key_env", "parameters")
OTHER = "Give the system another name; a name stands for one model with one set of parameters."


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """The endpoint that writes reports: a judge's (by name), or one of its own; empty fields keep the previous ones.

    `parameters`, a JSON object, replace the judge's.
    """

    judge: str = ""
    base_url: str = ""
    model: str = ""
    key_env: str = ""
    parameters: str = ""
    preset: str = ""
    """Request parameters, a JSON object, added to the others and overriding them."""


def prepared(
    project: Project, system: str, settings: WriterSettings = WriterSettings(), mode: str = ""
) -> Judge:
    """The writer of a system, created or updated from the settings.

    Continuations are asked for with parameters of their own, by a second writer beside that of the system's reports, at
    the same endpoint unless the settings say otherwise. Raises Refusal if the system's reports came from elsewhere,
    from another model, or were asked for with other parameters.
    """
    system_name = required(system.strip(), "The system has no name.", "Name the system: --system NAME.")
    with project.store.write() as db:
        of_reports, has_reports = _named(db, _name(system_name)), _has_reports(db, system_name, mode)
        old = _named(db, _name(system_name, mode)) or (of_reports if has_reports else None)
        writer = _configured(project, _name(system_name, mode), settings, old, of_reports)
        if has_reports:
            _refuse_another(system_name, old, writer)
        if settings.key_env and settings.base_url:
            keys.allow(settings.key_env, settings.base_url)
        return _stored(project, db, old, writer)


def writer_named(project: Project, name: str) -> Judge | None:
    with project.store.read() as db:
        return _named(db, name)


def of_system(project: Project, system: str, judge: str, preset: str = "", mode: str = "") -> Judge:
    """The writer of a system's reports: its previous writer if that is named, or one at the endpoint of a judge."""
    known = {_name(system.strip(), mode), _name(system.strip())}
    return prepared(project, system, WriterSettings("" if judge in known else judge, preset=preset), mode)


def as_endpoint(writer: Judge) -> Judge:
    return writer.model_copy(update={"kind": JudgeKind.ENDPOINT})


def _name(system: str, mode: str = "") -> str:
    """The name of a system's writer among the judges, unique to the system."""
    system = f"{system} ({mode})" if mode == CONTINUATION else system
    if len(system) <= _ROOM_FOR_A_NAME:
        return f"writer of {system}"
    return f"writer of {system[: _ROOM_FOR_A_NAME - 9]} {sha256(system)[:8]}"


def _named(db: Connection, name: str) -> Judge | None:
    row = (
        db.execute(select(JUDGE).where(JUDGE.c.name == name, JUDGE.c.kind == JudgeKind.WRITER.value))
        .mappings()
        .first()
    )
    return Judge(**row) if row is not None else None


def _has_reports(db: Connection, system: str, mode: str) -> bool:
    answers = select(RESPONSE.c.id).join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
    alike = (RESPONSE.c.mode == CONTINUATION) == (mode == CONTINUATION)
    return db.execute(answers.where(SYSTEM.c.name == system, alike).limit(1)).first() is not None


def _configured(
    project: Project, name: str, settings: WriterSettings, old: Judge | None, of_reports: Judge | None
) -> Judge:
    if settings == WriterSettings() and old is not None:
        return old
    given: dict[str, Any] = {
        "name": old.name if old else name,
        "kind": JudgeKind.WRITER,
        **(_from_judge(project, settings) if settings.judge else _by_itself(settings, old or of_reports)),
    }
    if settings.preset:
        own = json.loads(given.get("parameters") or "{}")
        given["parameters"] = json.dumps({**own, **json.loads(settings.preset)})
    return checked(old.id if old else new_id(), **given)


def _from_judge(project: Project, settings: WriterSettings) -> dict[str, str]:
    if settings.base_url or settings.model or settings.key_env:
        raise Refusal(
            "Both a judge and an endpoint of its own are named.", "Give --judge, or --base-url and --model."
        )
    judge = named(project, settings.judge)
    if judge.kind != JudgeKind.ENDPOINT:
        raise Refusal(f"“{judge.name}” has no endpoint to write with.", "Choose a judge behind an endpoint.")
    # The key is looked up under that judge.
    of, price = judge.settings.of or judge.id, judge.settings.price
    asking = PricedAsking(of=of, price=price).model_dump_json(exclude_defaults=True)
    endpoint = {name: getattr(judge, name) for name in ("base_url", "model", "key_env")}
    return endpoint | {"asking": asking, "parameters": settings.parameters or judge.parameters}


def _by_itself(settings: WriterSettings, old: Judge | None) -> dict[str, str]:
    known = {name: getattr(old, name) for name in ("asking", *_ENDPOINT_FIELDS)} if old else {}
    overrides = {name: value for name in _ENDPOINT_FIELDS if (value := getattr(settings, name))}
    if "base_url" in overrides or "key_env" in overrides:
        # The key is no longer that of the judge it was made from.
        known.pop("asking", None)
    given = known | overrides
    if not given.get("base_url") or not given.get("model"):
        raise Refusal(
            "No writer is given for the reports.",
            "Name a judge (--judge), or an endpoint and a model (--base-url and --model).",
        )
    return given


def _refuse_another(system: str, old: Judge | None, writer: Judge) -> None:
    if old is None:
        raise Refusal(f"The reports of “{system}” were not written in this project.", OTHER)
    if old.model != writer.model:
        raise Refusal(f"The reports of “{system}” were written by {old.model}, not {writer.model}.", OTHER)
    if old.parameters != writer.parameters:
        raise Refusal(
            f"The reports of “{system}” were asked for with the parameters {old.parameters}, "
            f"not {writer.parameters}.",
            OTHER,
        )


def _stored(project: Project, db: Connection, old: Judge | None, writer: Judge) -> Judge:
    if old == writer:
        return writer
    if old is None:
        refuse_taken(project, writer.name)
        db.execute(insert(JUDGE).values(**writer.model_dump()))
    else:
        db.execute(update(JUDGE).where(JUDGE.c.id == old.id).values(**writer.model_dump(exclude={"id"})))
    before = old.model_dump(mode="json") if old else None
    record(project, db, Change("judge", writer.id, "set writer", before, writer.model_dump(mode="json")))
    return writer
