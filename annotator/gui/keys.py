"""Key bindings: one table, rebindable, without clashes, adapted to each operating system."""

import re
import sys
from dataclasses import dataclass

from PySide6.QtCore import QObject, QSettings, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from annotator.domain.kinds.kind import Kind
from annotator.gui.parts import below

EVERYWHERE = "Everywhere"
_WITH_KEYS = "told-with-keys"
MAC = sys.platform == "darwin"
# Qt calls ⌘ “Ctrl” and the Control key “Meta” there. ⌘Tab and ⌘H are the system's own.
_ON_A_MAC = {"Ctrl+H": "Ctrl+Shift+H", "Ctrl+Tab": "Meta+Tab", "Ctrl+Shift+Tab": "Meta+Shift+Tab"}
# With one of these modifiers, a key types no text.
COMMANDS = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
_IN_WORDS = re.compile(r"\b(?:(?:Ctrl|Alt|Shift)\+)+(?:[A-Z][A-Za-z]*|[0-9.=+-])")


@dataclass(frozen=True, slots=True)
class Binding:
    """An act with its title, the page it belongs to, and its default keys."""

    act: str
    title: str
    page: str
    keys: tuple[str, ...]


BINDINGS: tuple[Binding, ...] = (
    Binding("undo", "Undo", EVERYWHERE, ("Ctrl+Z",)),
    Binding("take_back", "Take the last answer of this page back", EVERYWHERE, ("Backspace",)),
    Binding("redo", "Redo", EVERYWHERE, ("Ctrl+Shift+Z", "Ctrl+Y")),
    Binding("find", "Find on this page", EVERYWHERE, ("Ctrl+F",)),
    Binding("palette", "Find acts, pages, items and texts", EVERYWHERE, ("Ctrl+K", "Ctrl+Shift+F")),
    Binding("checkpoint", "Save (everything is saved automatically)", EVERYWHERE, ("Ctrl+S",)),
    Binding("keys", "Show all keys", EVERYWHERE, ("F1",)),
    Binding("guideline", "Show or hide the guideline", EVERYWHERE, ("F2",)),
    Binding("zoom_in", "Larger", EVERYWHERE, ("Ctrl++", "Ctrl+=")),
    Binding("zoom_out", "Smaller", EVERYWHERE, ("Ctrl+-",)),
    Binding("zoom_reset", "Normal size", EVERYWHERE, ("Ctrl+0",)),
    Binding("new_project", "New project", EVERYWHERE, ("Ctrl+Shift+N",)),
    Binding("quit", "Quit", EVERYWHERE, ("Ctrl+Q",)),
    Binding("open_project", "Open project", EVERYWHERE, ("Ctrl+O",)),
    Binding("settings", "Settings", EVERYWHERE, ("Ctrl+,",)),
    Binding("import", "Import", EVERYWHERE, ("Ctrl+I",)),
    Binding("exchange", "Send and receive, or send my work", EVERYWHERE, ("Ctrl+Shift+E",)),
    Binding("submit", "Submit, then go to the next", EVERYWHERE, ("Ctrl+Return", "Ctrl+Enter")),
    Binding("next_item", "Next item", EVERYWHERE, ("Ctrl+PgDown",)),
    Binding("previous_item", "Previous item", EVERYWHERE, ("Ctrl+PgUp",)),
    Binding("next_open", "Next open item", EVERYWHERE, ("Ctrl+J",)),
    Binding("unsure", "Unsure, wherever answers are given", EVERYWHERE, ("-",)),
    Binding("flag", "Flag", EVERYWHERE, ("Ctrl+G",)),
    Binding("note", "Note", EVERYWHERE, ("Ctrl+M",)),
    Binding("evidence", "Mark the selected text as evidence", EVERYWHERE, ("Ctrl+E",)),
    Binding("next_evidence", "Next marked passage", EVERYWHERE, ("Alt+PgDown",)),
    Binding("previous_evidence", "Previous marked passage", EVERYWHERE, ("Alt+PgUp",)),
    Binding("hold_run", "Pause or resume the run", EVERYWHERE, ("Ctrl+H",)),
    Binding("stop_run", "Stop the run", EVERYWHERE, ("Ctrl+.",)),
    Binding("other_pane", "Next part of the page", EVERYWHERE, ("F6",)),
    Binding("new_item", "Add an item", "Items", ("Ctrl+N",)),
    Binding("edit_item", "Edit the item", "Items", ("Alt+Return", "Alt+Enter")),
    Binding("retire_item", "Retire the item, or bring it back", "Items", ("Ctrl+Backspace",)),
    Binding("apply_selection", "Retire what was rated below the bar", "Items", ("Ctrl+Shift+A",)),
    Binding("weight_1", "First choice: weight, label …", "Author", ("Alt+1",)),
    Binding("weight_2", "Second choice", "Author", ("Alt+2",)),
    Binding("weight_3", "Third choice", "Author", ("Alt+3",)),
    Binding("new_unit", "New unit below (Enter, where a unit is one text)", "Author", ("Ctrl+N",)),
    Binding("retire_unit", "Delete unit", "Author", ("Ctrl+Backspace",)),
    Binding("reopen_document", "Reopen a submitted document, or edit the consensus", "Author", ("Ctrl+R",)),
    Binding("unit_up", "Move unit up", "Author", ("Alt+Up",)),
    Binding("unit_down", "Move unit down", "Author", ("Alt+Down",)),
    Binding("merge_unit", "Merge the unit with the one above", "Author", ("Ctrl+L",)),
    Binding("split_unit", "Split the unit at the cursor", "Author", ("Ctrl+Shift+L",)),
    Binding("next_kind", "Next kind of document", "Author", ("Ctrl+Tab",)),
    Binding("previous_kind", "Previous kind of document", "Author", ("Ctrl+Shift+Tab",)),
    Binding("spelling", "Check spelling while typing, or not", "Author", ("F7",)),
    Binding("model_draft", "Show or hide the model's draft, or references to take", "Author", ("F8",)),
    Binding("ask_draft", "Ask a model for a draft, or look references up", "Author", ("Ctrl+Shift+D",)),
    Binding("take_unit", "Take the unit of the draft, or the references", "Author", ("Ctrl+T",)),
    Binding("source_itself", "Take the source itself as evidence", "Author", ("Ctrl+Shift+S",)),
    Binding("take_marks", "Take over a judge's marks of importance", "Author", ("Ctrl+Shift+K",)),
    Binding("take_and_edit", "Take the unit of the draft and edit it", "Author", ("Ctrl+Shift+T",)),
    Binding("refuse_draft", "Dismiss the rest of the draft", "Author", ("Ctrl+Shift+Backspace",)),
    Binding("queue", "Show or hide the list of reports", "Label", ("Ctrl+B",)),
    Binding("met", "The first answer, the best, or 1", "Label", ("1",)),
    Binding("not_met", "The second answer, or 2", "Label", ("2",)),
    Binding("third", "The third answer, or 3", "Label", ("3",)),
    Binding("fourth", "The fourth answer, or 4", "Label", ("4",)),
    Binding("fifth", "The fifth answer, or 5", "Label", ("5",)),
    Binding("sixth", "The sixth answer, or 6", "Label", ("6",)),
    Binding("seventh", "The seventh answer, or 7", "Label", ("7",)),
    Binding("eighth", "The eighth answer, or 8", "Label", ("8",)),
    Binding("ninth", "The ninth answer, or 9", "Label", ("9",)),
    Binding("say_rest", "Label all remaining units in this group, or 0", "Label", ("0",)),
    Binding("ten", "10 where answers are numbers", "Label", ("=",)),
    Binding("kind_1", "First kind of error or source", "Label", ("Alt+1",)),
    Binding("kind_2", "Second kind of error or source", "Label", ("Alt+2",)),
    Binding("kind_3", "Third kind of error or source", "Label", ("Alt+3",)),
    Binding("kind_4", "Fourth kind of error or source", "Label", ("Alt+4",)),
    *(
        Binding(f"kind_{n}", f"Kind {n}, or a choice in another respect", "Label", (f"Alt+{n}",))
        for n in range(5, 10)
    ),
    Binding("reopen_labels", "Reopen submitted labels", "Label", ("Ctrl+R",)),
    Binding("next_unit", "Next report to label", "Label", ("Down",)),
    Binding("previous_unit", "Previous report to label", "Label", ("Up",)),
    Binding("next_protocol", "Next kind of question", "Label", ("Ctrl+Tab",)),
    Binding("previous_protocol", "Previous kind of question", "Label", ("Ctrl+Shift+Tab",)),
    Binding("report", "Show or hide the report beside a matrix", "Label", ("F4",)),
    Binding("take_a", "Take A", "Adjudicate", ("1",)),
    Binding("take_b", "Take B", "Adjudicate", ("2",)),
    Binding("take_both", "Keep all wordings", "Adjudicate", ("3",)),
    Binding("write_own", "Write your own wording", "Adjudicate", ("4",)),
    Binding("take_c", "Take C", "Adjudicate", ("5",)),
    Binding("take_d", "Take D", "Adjudicate", ("6",)),
    Binding("drop_unit", "Leave it out", "Adjudicate", ("0",)),
    Binding("leave_open", "Undo the ruling", "Adjudicate", ("Alt+0",)),
    Binding("next_row", "Next row", "Adjudicate", ("Down",)),
    Binding("previous_row", "Previous row", "Adjudicate", ("Up",)),
    Binding("reason_wording", "Reason: wording", "Adjudicate", ("Alt+1",)),
    Binding("reason_scope", "Reason: scope", "Adjudicate", ("Alt+2",)),
    Binding("reason_weight", "Reason: weight", "Adjudicate", ("Alt+3",)),
    Binding("reason_error", "Reason: error", "Adjudicate", ("Alt+4",)),
    Binding("reason_duplicate", "Reason: duplicate", "Adjudicate", ("Alt+5",)),
    Binding("reason_missing", "Reason: missing", "Adjudicate", ("Alt+6",)),
    Binding("reason_gap", "Reason: guideline gap", "Adjudicate", ("Alt+7",)),
    Binding("reason_other", "Reason: other", "Adjudicate", ("Alt+8",)),
    Binding("sure_low", "Confidence: low", "Adjudicate", ("Alt+Shift+1",)),
    Binding("sure_medium", "Confidence: medium", "Adjudicate", ("Alt+Shift+2",)),
    Binding("sure_high", "Confidence: high", "Adjudicate", ("Alt+Shift+3",)),
    Binding("pair_row", "Pair with another row", "Adjudicate", ("Ctrl+P",)),
    Binding("split_row", "Split the row", "Adjudicate", ("Ctrl+Shift+P",)),
    Binding("new_row", "New row below", "Adjudicate", ("Ctrl+N",)),
    Binding("row_up", "Move row up", "Adjudicate", ("Alt+Up",)),
    Binding("row_down", "Move row down", "Adjudicate", ("Alt+Down",)),
    Binding("confirm_unanimous", "Confirm the agreed rows", "Adjudicate", ("Ctrl+U",)),
    Binding("conflicts", "Show or hide the list of conflicts", "Adjudicate", ("Ctrl+B",)),
    Binding("vote_first", "Vote before seeing A and B", "Adjudicate", ("F9",)),
    Binding("source", "Show or hide the source", "Adjudicate", ("F4",)),
    Binding("discussion", "Show or hide the discussion", "Adjudicate", ("F7",)),
    Binding("gaps", "Show or hide the guideline gaps", "Adjudicate", ("F8",)),
    Binding("judges_list", "The judges", "Judges", ("Alt+1",)),
    Binding("judges_runs", "Runs and the queue", "Judges", ("Alt+2",)),
    Binding("judges_replies", "Replies, one by one", "Judges", ("Alt+3",)),
    Binding("judges_compare", "Compare judges", "Judges", ("Alt+4",)),
    Binding("judges_prompts", "Prompts", "Judges", ("Alt+5",)),
    Binding("judges_costs", "Costs", "Judges", ("Alt+6",)),
    Binding("new_judge", "Add a judge", "Judges", ("Ctrl+N",)),
    Binding("new_vote", "Add a vote of judges", "Judges", ("Ctrl+Shift+V",)),
    Binding("test_judge", "Test the judge", "Judges", ("Ctrl+T",)),
    Binding("retire_judge", "Retire the judge", "Judges", ("Ctrl+Backspace",)),
    Binding("queue_run", "Put the run into the queue", "Judges", ("Ctrl+U",)),
    Binding("start_queue", "Start the queue", "Judges", ("Ctrl+Shift+U",)),
    Binding("run_again", "Resume, or ask for missing judgements again", "Judges", ("Ctrl+R",)),
    Binding("read_replies", "Show the run's replies", "Judges", ("Ctrl+L",)),
    Binding("run_compare", "Run again and compare", "Judges", ("Ctrl+Shift+A",)),
    Binding("run_costs", "Cost of the run, unit by unit", "Judges", ("Ctrl+Shift+L",)),
    Binding("drawn_waiting", "Go to unconfirmed extracts", "Judges", ("Ctrl+Shift+J",)),
    Binding("reread", "Parse stored replies again", "Judges", ("Ctrl+Shift+R",)),
    Binding("prompt_changes", "Preview, or what changes", "Judges", ("Ctrl+P",)),
    Binding("copy_table", "Copy the table", "Agreement", ("Ctrl+Shift+C",)),
    Binding("save_inputs", "Save the exact inputs", "Agreement", ("Ctrl+Shift+S",)),
    Binding("save_picture", "Save the picture", "Agreement", ("Ctrl+Shift+P",)),
    Binding("validate_sets", "Sets to label", "Validate", ("Alt+1",)),
    Binding("validate_figures", "Judges beside people", "Validate", ("Alt+2",)),
    Binding("validate_ruling", "Disagreements to rule on", "Validate", ("Alt+3",)),
    Binding("validate_reviews", "Verdicts to review", "Validate", ("Alt+4",)),
    Binding("validate_attacks", "Attacks on judges", "Validate", ("Alt+5",)),
    Binding("validate_cards", "Cards of validated judges", "Validate", ("Alt+6",)),
    Binding("new_set", "Draw a validation set", "Validate", ("Ctrl+N",)),
    Binding("labels_in", "Import labels from files", "Validate", ("Ctrl+Shift+I",)),
    Binding("labels_out", "Save labels", "Validate", ("Ctrl+Shift+L",)),
    Binding("lock_set", "Lock the labels of the set", "Validate", ("Ctrl+L",)),
    Binding("see_figures", "Figures on the chosen set", "Validate", ("Ctrl+Shift+G",)),
    Binding("say_first", "The judge is wrong, or: agree", "Validate", ("1",)),
    Binding("say_second", "The person is wrong, or: disagree", "Validate", ("2",)),
    Binding("say_third", "The criterion is unclear", "Validate", ("3",)),
    Binding("fault_missed", "Reason: missed what the report says", "Validate", ("4",)),
    Binding("fault_invented", "Reason: saw what the report does not say", "Validate", ("5",)),
    Binding("fault_quote", "Reason: the quote does not support it", "Validate", ("6",)),
    Binding("fault_criterion", "Reason: misread the criterion", "Validate", ("7",)),
    Binding("fault_strict", "Reason: too strict", "Validate", ("8",)),
    Binding("fault_lenient", "Reason: too lenient", "Validate", ("9",)),
    Binding("fault_other", "Reason: other", "Validate", ("0",)),
    Binding("verdict_kind_1", "First kind of error or source", "Validate", ("A",)),
    Binding("verdict_kind_2", "Second kind", "Validate", ("S",)),
    Binding("verdict_kind_3", "Third kind", "Validate", ("D",)),
    Binding("verdict_kind_4", "Fourth kind", "Validate", ("F",)),
    Binding("unclear_criteria", "Criteria that were ruled unclear", "Validate", ("Ctrl+U",)),
    Binding("judge_anew", "Judge reworded criteria again", "Validate", ("Ctrl+Shift+U",)),
    Binding("check_card", "Check a card", "Validate", ("Ctrl+Shift+K",)),
    Binding("bind_card", "Bind the judge to its card", "Validate", ("Ctrl+B",)),
    Binding("attack_read", "Read the attacked case", "Validate", ("Ctrl+R",)),
    Binding("attack_back", "Back to the list of attacks", "Validate", ("Ctrl+Backspace",)),
    Binding("attack_families", "Families of models", "Validate", ("F8",)),
    *(
        Binding(f"rank_{side}_{step}", f"The {side} task is better: confidence {sure}", "Contest", (key,))
        # Key 1 stands for the first task almost certainly, key 0 for the second almost certainly.
        for side, row in (("first", "54321"), ("second", "67890"))
        for step, (key, sure) in enumerate(zip(row, (".5", ".6", ".7", ".8", ".95"), strict=True), start=1)
    ),
    Binding("contest_rank", "Pairs to rank", "Contest", ("Alt+1",)),
    Binding("contest_compare", "A judge's rounds of comparisons", "Contest", ("Alt+2",)),
    Binding("contest_keep", "Standings, and what is kept", "Contest", ("Alt+3",)),
    Binding("start_contest", "Have the judge compare tasks", "Contest", ("Ctrl+Shift+Return",)),
    Binding("import_matches", "Import matches", "Contest", ("Ctrl+Shift+O",)),
    Binding("keep_task", "Keep the task: make an item of it", "Contest", ("Ctrl+T",)),
    Binding("hold_task", "Hold the task back", "Contest", ("Ctrl+L",)),
    Binding("release_task", "Decide on the task later", "Contest", ("Ctrl+D",)),
    Binding("keep_best", "Keep the best tasks", "Contest", ("Ctrl+Shift+K",)),
    Binding("next_view", "Next view", "Results", ("Ctrl+Tab",)),
    Binding("previous_view", "Previous view", "Results", ("Ctrl+Shift+Tab",)),
    Binding("all_views", "Show all views, or those with data", "Results", ("Alt+A",)),
    Binding("next_sheet", "Next table of the view", "Results", ("Ctrl+T",)),
    Binding("definition", "About the selected figure", "Results", ("Ctrl+D",)),
    Binding("copy_results", "Copy the table", "Results", ("Ctrl+Shift+C",)),
    Binding("save_results", "Save the table", "Results", ("Ctrl+Shift+S",)),
    Binding("save_results_picture", "Save the picture", "Results", ("Ctrl+Shift+P",)),
    Binding("choose_work", "Choose files that came back", "Exchange", ("Ctrl+Shift+O",)),
    Binding("accept_work", "Accept the piece in the tray", "Exchange", ("Alt+A",)),
    Binding("set_work_aside", "Set the piece in the tray aside", "Exchange", ("Alt+S",)),
    Binding("start_run", "Start the prepared task", "Material", ("Ctrl+Shift+Return",)),
    Binding("read_report", "Read the report at the cursor", "Material", ("Alt+O",)),
    Binding("confirm_drawn", "Confirm the extract", "Material", ("Alt+C",)),
    Binding("accept_drawn", "Accept what was extracted", "Material", ("Alt+K",)),
    Binding("vital_drawn", "Mark it vital, or not", "Material", ("Alt+I",)),
    Binding("part_drawn", "Part what was merged into it", "Material", ("Alt+T",)),
    Binding("keep_drawn", "Save the edited unit or passage", "Material", ("Alt+Return",)),
    Binding("new_drawn", "Add a unit that was overlooked", "Material", ("Ctrl+N",)),
    Binding("remove_drawn", "Remove the unit, or leave the passage out", "Material", ("Ctrl+Backspace",)),
    Binding("raw_replies", "Show or hide the judge's raw replies", "Material", ("F4",)),
    Binding("rename_person", "Rename the person", "People", ("Ctrl+R",)),
    Binding("leave_or_return", "Mark the person as left, or as returned", "People", ("Ctrl+L",)),
    Binding("withdraw", "Withdraw the selected work", "People", ("Ctrl+Backspace",)),
    Binding("change_due", "Change the due date", "People", ("Ctrl+D",)),
    Binding("reassign", "Reassign the selected work", "People", ("Ctrl+T",)),
    Binding("preview", "Switch between editor, preview and changes", "Guidelines", ("Ctrl+P",)),
)
PAGES = (
    "Items",
    "Author",
    "Label",
    "Adjudicate",
    "Judges",
    "Agreement",
    "Validate",
    "Contest",
    "Results",
    "Release",
    "Exchange",
    "Material",
    "People",
    "Guidelines",
)
# Pages of document kinds that only some projects use.
OF_KIND = {"Contest": Kind.TASKS}
# Validate shows its figures in the same view as Results, with the same keys.
SHARED = frozenset({"Results", "Validate"})
_BY_ACT = {binding.act: binding for binding in BINDINGS}


def named(act: str) -> Binding:
    return _BY_ACT[act]


def sequences(act: str) -> list[QKeySequence]:
    stored = QSettings().value(f"keys/{act}")
    keys = [str(stored)] if stored else [here(key) for key in _BY_ACT[act].keys]
    return [QKeySequence(key) for key in keys]


def here(key: str) -> str:
    """A default key in the form that this operating system leaves free.

    On macOS ⌥ with a letter or digit types a character: Alt+1 becomes ⌃1, and Alt+A becomes ⌘⌥A, since ⌃A moves the
    text cursor.
    """
    if not MAC:
        return key
    if match := re.fullmatch(r"Alt\+((?:Shift\+)?[0-9])", key):
        return f"Meta+{match[1]}"
    return f"Ctrl+{key}" if re.fullmatch(r"Alt\+[A-Z]", key) else _ON_A_MAC.get(key, key)


def written(key: str | QKeySequence | QKeySequence.StandardKey) -> str:
    """A key in this system's notation: “Ctrl+J” or “⌘J”."""
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


def plain(event: QKeyEvent) -> bool:
    """Whether a key is pressed without modifiers; Qt adds its own for number-pad keys, and on macOS for all arrows."""
    return not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier


def in_words(words: str) -> str:
    """A help text or guideline with its keys replaced by those of this system, in its notation."""
    if not MAC:
        return words
    return _IN_WORDS.sub(lambda key: written(here(re.sub("Enter$", "Return", key[0]))), words)


def shown(act: str) -> str:
    """The key of an act in this system's notation, with Qt's “Return” written as “Enter”."""
    return written(sequences(act)[0]).replace("Return", "Enter")


class _Shown(dict[str, str]):
    def __missing__(self, act: str) -> str:
        return shown(act)


def tell(target: QObject, name: str, words: str) -> None:
    """Set a text property (`toolTip`, `text`) of a widget or menu entry, with keys filled in, as in “Note ({note})”."""
    target.setProperty(_WITH_KEYS, [name, words] if "{" in words else None)
    target.setProperty(name, with_keys(words))


def with_keys(words: str) -> str:
    """The text with the names of acts in braces replaced by their keys."""
    return words.format_map(_Shown())


def retell(within: QObject) -> None:
    """Update the keys in all texts set by `tell`; a part that shows keys in another way has `show_keys`."""
    for target in below(within, QObject):
        if arguments := target.property(_WITH_KEYS):
            tell(target, *arguments)
        if show_keys := getattr(target, "show_keys", None):
            show_keys()


def clash(act: str, key: str) -> Binding | None:
    """The binding that the key would clash with if it were assigned to the act, or None."""
    sequence, mine = QKeySequence(key), _BY_ACT[act]
    for other in BINDINGS:
        pages = {mine.page, other.page}
        meet = EVERYWHERE in pages or len(pages) == 1 or pages <= SHARED
        if other.act != act and meet and sequence in sequences(other.act):
            return other
    return None


def rebind(act: str, key: str) -> Binding | None:
    """Assign another key to an act; a binding in the way is returned instead, otherwise None."""
    other = clash(act, key)
    if other is None:
        QSettings().setValue(f"keys/{act}", key)
    return other


def is_news(name: str) -> bool:
    """Whether an announcement is still to be shown on this machine; marks it as shown."""
    settings, place = QSettings(), f"news/{name}"
    shown = settings.contains(place)
    settings.setValue(place, True)
    return not shown


def restore_all() -> None:
    QSettings().remove("keys")
