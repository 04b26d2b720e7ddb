"""The list of pages: steps of the work, and those reached from menus or other pages."""

from annotator.actions.project.file import Project

Step = tuple[str, str, str, str]
# Name, icon, module and class of each step of the work; a page is imported when it is first visited.
STEPS: tuple[Step, ...] = (
    ("Items", "items", "annotator.gui.pages.items.page", "ItemsPage"),
    ("Author", "author", "annotator.gui.pages.authoring", "AuthorPage"),
    ("Label", "label", "annotator.gui.pages.labelling", "LabelPage"),
    ("Adjudicate", "adjudicate", "annotator.gui.pages.adjudication", "AdjudicatePage"),
    ("Judges", "judges", "annotator.gui.pages.judges", "JudgesPage"),
    ("Agreement", "agreement", "annotator.gui.pages.agreement", "AgreementPage"),
    ("Validate", "validate", "annotator.gui.pages.validation", "ValidatePage"),
    ("Results", "results", "annotator.gui.pages.results", "ResultsPage"),
    ("Release", "release", "annotator.gui.pages.release", "ReleasePage"),
)
# What is offered in a project that was made from a task: an annotator's steps, and the way back.
OF_A_TASK = ("Items", "Author", "Label")
SEND: Step = ("Send", "export", "annotator.gui.pages.sending", "SendPage")
# Pages reached from the menu or from another page.
ASIDE: tuple[tuple[str, str, str], ...] = (
    ("Import", "annotator.gui.pages.importing", "ImportPage"),
    ("Exchange", "annotator.gui.pages.inbox", "ExchangePage"),
    ("Material", "annotator.gui.pages.material", "MaterialPage"),
    ("Backups", "annotator.gui.pages.backups", "BackupsPage"),
    ("Check", "annotator.gui.pages.checking", "CheckPage"),
    ("People", "annotator.gui.pages.people", "PeoplePage"),
    ("Guidelines", "annotator.gui.pages.guidelines", "GuidelinesPage"),
    ("Feedback", "annotator.gui.pages.feedback", "FeedbackPage"),
    ("Reviews", "annotator.gui.pages.reviewing", "ReviewsPage"),
    ("Final pass", "annotator.gui.pages.final_pass", "FinalPassPage"),
    ("Contest", "annotator.gui.pages.contest", "ContestPage"),
    ("Keys", "annotator.gui.pages.keyboard", "KeyboardPage"),
    ("Help", "annotator.gui.pages.help", "HelpPage"),
)


def steps(project: Project) -> list[Step]:
    """The steps of the work that a window over the project offers."""
    return [*(step for step in STEPS if step[0] in OF_A_TASK), SEND] if project.from_task else list(STEPS)
