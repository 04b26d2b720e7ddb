"""Settings of a judge behind an endpoint: address, model, parameters, key; allowed keys; and the form of a vote."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from annotator.actions.judges import judges, kept_keys
from annotator.actions.judging import derived_judges
from annotator.actions.judging.derived_judges import facts
from annotator.domain.common import counted
from annotator.domain.judges.judge import Judge, PricedAsking
from annotator.gui import theme
from annotator.gui.parts import holds
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import Fold
from annotator.gui.widgets.basics import (
    PlainLabel,
    RoleFrame,
    column_of,
    horizontal,
    later,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.columns import TickList
from annotator.gui.widgets.fields import AmountBox, ChoiceBox, FormRow, LineField, form_of, when_changed
from annotator.gui.widgets.reading.report_view import RawText

FIELDS = {
    "name": ("&Name", "a short name, e.g. o3-mini"),
    "base_url": ("&Endpoint", "http://127.0.0.1:8000/v1"),
    "model": ("&Model", "the model as the endpoint lists it"),
    "parameters": ("Para&meters", '{} — only sent if set, e.g. {"temperature": 0}'),
    "key_env": ("Or &variable", "e.g. OPENAI_API_KEY"),
    "headers": ("Headers", 'headers, e.g. {"api-key": "{key}"}'),
    "query": ("Query parameters", 'query, e.g. {"api-version": "2024-10-21"}'),
    "input": ("in", "in"),
    "output": ("out", "out"),
    "cached": ("in from the cache", "cached"),
}
SENT, PRICES = ("headers", "query"), ("input", "output", "cached")
SENT_TIP = (
    "A JSON object. In a header {key} stands for the key, and {NAME} for the environment variable of that name: "
    "never write a secret itself."
)
VARIABLE_HINT = FIELDS["key_env"][1]
VARIABLE = "Environment variable that holds the key"
RING, SESSION = "ring", "session"
HAS_JUDGED = "The judge has used these settings: add another judge for another model or endpoint."
FOLLOWS = "It derives from a judge that is asked one unit at a time, and follows its settings."


class EndpointForm(Pane):
    """The fields; the key's field is emptied as soon as the key is stored."""

    edited = Signal()
    allowed = Signal()
    """A key was allowed for the judge's address, or is no longer available."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._judge: Judge | None = None
        self._shown: dict[str, str] = {}
        self.fields = {name: LineField(placeholderText=hint) for name, (_, hint) in FIELDS.items()}
        self.prices = [self.fields[name] for name in PRICES]
        self.key_env = self.fields["key_env"]
        self.key = LineField(
            placeholderText="paste it here; it is never shown", echoMode=QLineEdit.EchoMode.Password
        )
        self.keep = ChoiceBox()
        self.keep.addItem("in the system's keyring", RING)
        self.keep.addItem("until Goldsmith is closed", SESSION)
        self.forget = push_button("Forget", self._forget, "quiet")
        self.allow = push_button("Allow", self._allow, "quiet")
        self.weights = QCheckBox("&Show it the weight of each unit")
        self.calls = _rate(" calls", 100_000)
        self.tokens = _rate(" tokens", 1_000_000_000)
        self.price, self.place = PlainLabel("", "hint", wrap=True), PlainLabel("", "hint", wrap=True)
        self.locked = PlainLabel("", "hint", wrap=True)
        self._soon = later(self, self._show_price, 300)
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        fields = self.fields
        for name in PRICES:
            named = f"US dollars per million tokens {FIELDS[name][0]}; empty: as listed"
            with_properties(fields[name], accessibleName=named.partition(";")[0], toolTip=named)
        self.priced = column_of(horizontal(*((field, 1) for field in self.prices), spacing=6))
        with_properties(fields["query"], accessibleName=FIELDS["query"][0], toolTip=SENT_TIP)
        self.tokens.setAccessibleName("Most tokens a minute")
        addressed = horizontal((fields["base_url"], 1), self._usual(), spacing=4)
        self.form = form_of(
            (
                *self._rows("name"),
                (FIELDS["base_url"][0], addressed, fields["base_url"], "Endpoint", ""),
                *self._rows("model"),
                (
                    "P&rice $/M",
                    self.priced,
                    self.prices[0],
                    self.prices[0].accessibleName(),
                    self.prices[0].toolTip(),
                ),
                ("", self.price, self.price, "", ""),
                ("", self.locked, self.locked, "", ""),
                ("&Key", self.key, self.key, "Key", ""),
                ("", horizontal((self.place, 1), self.forget, self.allow, spacing=6), self.place, "", ""),
            )
        )
        along = horizontal(*((fields[name], 1) for name in SENT), spacing=6)
        rates = horizontal((self.calls, 1), (self.tokens, 1), spacing=6)
        self.options = Fold(
            "Options",
            form_of(
                (
                    ("Kept", self.keep, self.keep, "Storage of the key", ""),
                    (FIELDS["key_env"][0], self.key_env, self.key_env, VARIABLE, ""),
                    *self._rows("parameters"),
                    ("A&lso sent", along, fields["headers"], FIELDS["headers"][0], SENT_TIP),
                    ("&A minute", rates, self.calls, "Most calls a minute", ""),
                )
            ),
            self.weights,
        )
        self.options.button.toggled.connect(lambda _: self._show_price())
        vertical(self.form, self.options, on=self, margins=0, spacing=7)

    def _rows(self, name: str) -> Iterator[FormRow]:
        field, words = self.fields[name], FIELDS[name][0]
        yield words, field, field, words.replace("&", ""), ""

    def _usual(self) -> QToolButton:
        self.usual = chips.tool_button(
            "Usual providers",
            "down",
            popupMode=QToolButton.ToolButtonPopupMode.InstantPopup,
            focusPolicy=Qt.FocusPolicy.TabFocus,
        )
        menu = QMenu(self.usual)
        for preset in judges.PRESETS:
            menu.addAction(f"{preset.title}\t{preset.base_url}", partial(self._take, preset))
        self.usual.setMenu(menu)
        return self.usual

    def _take(self, preset: judges.Preset) -> None:
        """Fill the fields from a preset and show its notes; its environment variable is only suggested."""
        self.fields["base_url"].setText(preset.base_url)
        self._put(headers=_typed(preset.headers), query=_typed(preset.query))
        key = f"Its key is usually in {preset.variable}." if preset.variable else "It usually needs no key."
        self.key_env.setPlaceholderText(f"e.g. {preset.variable}" if preset.variable else VARIABLE_HINT)
        self.place.setText(" ".join(filter(None, (preset.note, key))))
        self.fields["model"].setFocus()
        self.edited.emit()

    def _put(self, **texts: str) -> None:
        for name, text in texts.items():
            self.fields[name].setText(text)
            self.fields[name].setCursorPosition(0)

    def _listen(self) -> None:
        for field in (*self.fields.values(), self.key):
            field.textEdited.connect(lambda _: self.edited.emit())
        when_changed(self._soon.start, self.fields["model"], self.fields["base_url"], *self.prices)
        when_changed(self.edited.emit, self.weights, self.calls, self.tokens)

    @property
    def dirty(self) -> bool:
        return self._values() != self._shown or bool(self.key.text())

    def _fill(self, judge: Judge) -> None:
        """Show the settings of a judge, and the prices of its tokens."""
        asking = judge.settings
        amounts = {name: getattr(asking.price, name, None) for name in PRICES}
        self._put(
            **judge.model_dump(include=set(FIELDS)),
            headers=_typed(asking.headers),
            query=_typed(asking.query),
            **{name: "" if amount is None else f"{amount:.10g}" for name, amount in amounts.items()},
        )
        self.weights.setChecked(asking.weights_shown)
        self.calls.setValue(asking.requests_per_minute or 0)
        self.tokens.setValue(asking.tokens_per_minute or 0)
        self._shown = self._values()
        self.key.clear()
        self._show_price()

    def show_judge(self, judge: Judge) -> None:
        self._judge = judge
        self._fill(judge)
        judged = bool(self.session.ask(judges.has_judged, judge.id))
        self._lock(follows=bool(judge.settings.of), judged=judged)
        self.show_place()

    def begin(self) -> None:
        self._judge = None
        self._fill(Judge(id="", name="new"))
        self.fields["name"].clear()
        self._shown = self._values()
        self.key_env.setPlaceholderText(VARIABLE_HINT)
        self._lock(follows=False, judged=False)
        self.place.setText(
            "Searched in the keyring, then the variable, then this session. Never stored in the project."
        )
        self.forget.hide()
        self.allow.hide()

    def focus_first(self) -> None:
        self.fields["name"].setFocus()

    def save(self) -> str:
        """Store the settings and the key; the judge's name, or an empty string if they were refused."""
        values = self._values()
        name, secret = values["name"], self.key.text()
        if values != self._shown and not self._save(values):
            return ""
        if secret:
            session = self.keep.currentData() == SESSION
            judge = self.session.ask(judges.named, name)
            remembered = judge and self.session.ask(
                kept_keys.remember_key, judge, secret, session_only=session
            )
            if remembered is None:
                return ""
            self.key.clear()
        self._shown = values
        return name

    def _save(self, values: dict[str, str]) -> bool:
        values = dict(values)
        sent, price = ([values.pop(name) for name in names] for names in (SENT, PRICES))
        asking = self.session.attempt(lambda: judges.with_sent(values["asking"], *sent))
        if asking is None:
            return False
        values["asking"] = asking
        if self._judge is None:
            return self.session.do(judges.add, values.pop("name"), **values, price=price) is not None
        before = {self._judge.key_env, *self._judge.settings.secrets, "", "key"}
        if self.session.do(judges.change, self._judge.id, values, price) is None:
            return False
        named = {values["key_env"], *PricedAsking.model_validate_json(asking).secrets}
        return all([self._may_go(name, values["base_url"]) for name in sorted(named - before)])

    def _may_go(self, key: str, address: str) -> bool:
        """Allow a key for an address: both are in this form, and the person has typed or allowed the key's name."""
        return self.session.attempt(lambda: kept_keys.allow(key, address)) is not None

    def _values(self) -> dict[str, str]:
        values = {name: field.text().strip() for name, field in self.fields.items()}
        values["parameters"] = values["parameters"] or "{}"
        asking = self._judge.settings if self._judge else PricedAsking()
        how = {
            "weights_shown": self.weights.isChecked(),
            "requests_per_minute": self.calls.value() or None,
            "tokens_per_minute": self.tokens.value() or None,
        }
        values["asking"] = PricedAsking(**asking.model_dump() | how).model_dump_json(exclude_defaults=True)
        return values

    def _lock(self, *, follows: bool, judged: bool) -> None:
        readonly = self.session.project.readonly
        for name, field in self.fields.items():
            field.setReadOnly(readonly or follows or (judged and name in ("base_url", "model")))
        self.usual.setVisible(not (readonly or follows or judged))
        for widget in (self.weights, self.calls, self.tokens, self.key, self.keep, self.forget):
            widget.setEnabled(not readonly and not follows)
        self.locked.show_words(FOLLOWS if follows else HAS_JUDGED if judged else "")

    def _show_price(self) -> None:
        """Show the price of tokens; looked up on another thread, since the table takes a moment to load."""
        model, url = self.fields["model"].text().strip(), self.fields["base_url"].text().strip()
        typed = any(field.text().strip() for field in self.prices)
        self._offer_prices(typed)
        if typed:
            self.price.setText(
                "US dollars per million tokens, as entered here; leave all empty for the listed price"
            )
        elif not model:
            self.price.setText("Name the model: its price is looked up, or asked for here.")
        else:
            # Text being typed may be longer than what can be stored: that is refused on saving.
            judge = Judge.model_construct(id="", name="new", model=model, base_url=url)
            self.session.ask_later(partial(self._priced, judge), derived_judges.price_words, judge)

    def _priced(self, judge: Judge, words: str) -> None:
        typed = any(field.text().strip() for field in self.prices)
        if not typed and (judge.model, judge.base_url) == tuple(
            self.fields[name].text().strip() for name in ("model", "base_url")
        ):
            self.price.setText(words)
            self._offer_prices(words.startswith("not known"))

    def _offer_prices(self, needed: bool) -> None:
        """Show the fields of prices if they are needed, and while all options are shown."""
        self.form.setRowVisible(self.priced, needed or self.options.is_open or holds(self.priced))

    def show_place(self) -> None:
        """Show where the judge's key is stored, and whether it may be used."""
        words = self.session.ask(kept_keys.key_place, self._judge) if self._judge else ""
        self.place.setText(words or "")
        why = self.session.ask(kept_keys.not_allowed, self._judge) if self._judge else None
        self.allow.setVisible(why is not None)
        forgettable = words and not why and ("keyring" in words or "closed" in words)
        self.forget.setVisible(bool(forgettable))

    def _allow(self) -> None:
        why = self.session.ask(kept_keys.not_allowed, self._judge) if self._judge else None
        if why is not None and self._may_go(why.key, why.address):
            self.show_place()
            self.allowed.emit()

    def _forget(self) -> None:
        if self._judge is not None:
            self.session.ask(kept_keys.forget_key, self._judge.name)
            self.show_place()
            self.allowed.emit()


class AllowedKeys(Pane):
    """The keys allowed for an address on this machine, each with a button that withdraws it."""

    withdrawn = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._rows = vertical(
            PlainLabel("Keys allowed on this machine", "strong"), on=self, margins=0, spacing=4
        )
        self.hide()

    def fill(self) -> None:
        """Show what is allowed now; hidden if there is nothing."""
        while self._rows.count() > 1:
            gone: Any = self._rows.takeAt(1)
            gone.widget().hide()
            gone.widget().deleteLater()
        result = self.session.attempt(kept_keys.grants) or []
        for one in result:
            words = f"{one.key} · {one.address}{'' if one.allowed else ' · not allowed'}"
            button = push_button(
                "Withdraw",
                partial(self._withdraw, one.key, one.address),
                "quiet",
                accessibleName=f"Withdraw {words}",
            )
            row = QWidget()
            horizontal((PlainLabel(words, "hint", wrap=True), 1), button, on=row, margins=0)
            self._rows.addWidget(row)
        self.setVisible(bool(result))

    def _withdraw(self, key: str, address: str) -> None:
        if self.session.attempt(lambda: kept_keys.withdraw(key, address)) is not None:
            self.fill()
            self.withdrawn.emit()


def _typed(values: Mapping[str, str]) -> str:
    return json.dumps(dict(values)) if values else ""


def _rate(suffix: str, most: int) -> AmountBox:
    """A number per minute; 0 means any."""
    made = AmountBox(
        minimum=0,
        maximum=most,
        decimals=0,
        suffix=suffix,
        specialValueText=f"any{suffix}",
        groupSeparatorShown=True,
    )
    # The longest number must not reserve space that nobody needs.
    made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    return made


NONE = "Tick one judge for the majority of its trials, or several for a panel."


class VoteForm(Pane):
    edited = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.name = LineField(
            placeholderText="a short name, e.g. panel of three", textEdited=lambda _: self.edited.emit()
        )
        self.members = TickList("Judges whose verdicts are counted", 3, 8)
        self.members.ticked_anew.connect(self._say)
        self.words = PlainLabel(NONE, "hint", wrap=True)
        form_of(
            (
                ("&Name", self.name, self.name, "Name of the vote", ""),
                ("&Counts", self.members, self.members, "Judges whose verdicts are counted", ""),
                ("", self.words, self.words, "", ""),
            ),
            self,
        )

    @property
    def dirty(self) -> bool:
        return bool(self.name.text().strip())

    def begin(self, known: Sequence[Judge]) -> None:
        self.name.clear()
        self.members.clear()
        self.members.offer({judge.name: judge.name for judge in known})
        self._say()

    def focus_first(self) -> None:
        self.name.setFocus()

    def save(self) -> str:
        """Create the vote; its name, or an empty string if it was refused."""
        name = self.name.text().strip()
        return (
            name if self.session.do(derived_judges.add, name, list(self.members.ticked())) is not None else ""
        )

    def _say(self) -> None:
        chosen = self.members.ticked()
        if len(chosen) > 1:
            words = (
                f"The verdict of more than half of {counted(len(chosen), 'judge')}, each by its own trials."
            )
        else:
            words = f"The verdict of most trials of \u2068{chosen[0]}\u2069." if chosen else NONE
        self.words.setText(words)
        self.edited.emit()


class ProbeView(RoleFrame):
    def __init__(self) -> None:
        super().__init__("card")
        self.words = PlainLabel("", "strong", wrap=True)
        self.state = Chips(wrap=False)
        self.facts = QFormLayout(horizontalSpacing=14, verticalSpacing=3)
        self.raw = RawText("The reply as it came")
        self.accept = with_properties(
            QPushButton("Use it all the same"), toolTip="Let it run; its figures say that it failed its test"
        )
        vertical(self.state, self.words, self.facts, self.raw, self.accept, on=self)
        self.clear()

    def clear(self) -> None:
        self._forget()
        self.hide()

    def wait(self) -> None:
        self._forget()
        self.state.show_chips([Chip("Asking…", "clock", "incomplete")])
        self.words.setText("Sending one long page, with a code word at each end.")
        self.show()

    def show_result(self, result: Mapping[str, Any]) -> None:
        self._forget()
        ok = bool(result.get("ok"))
        chip = Chip("Answers", "check", "agreed") if ok else Chip("Not usable like this", "cross", "disagree")
        self.state.show_chips([chip])
        self.words.setText(str(result.get("words", "")))
        for name, words in facts(result):
            self.facts.addRow(PlainLabel(name, "hint"), PlainLabel(words, wrap=True))
        self.accept.setVisible(not ok)
        raw = str(result.get("raw", ""))
        self.raw.setPlainText(raw)
        theme.scale(self.raw.setFixedHeight, 96)
        self.raw.setVisible(bool(raw))
        self.show()

    def _forget(self) -> None:
        self.words.setText("")
        self.raw.hide()
        self.accept.hide()
        while self.facts.rowCount():
            self.facts.removeRow(0)
