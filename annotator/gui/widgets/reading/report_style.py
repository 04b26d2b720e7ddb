"""Style sheet of reports, and the colours of marks."""

from PySide6.QtGui import QFontDatabase, QTextCharFormat
from PySide6.QtWidgets import QTextEdit

from annotator.gui import theme

_Line = QTextCharFormat.UnderlineStyle
# Kind of mark: its colour by name, and the line under it, so that no kind is told by colour alone.
MARKS: dict[str, tuple[str, _Line]] = {
    "evidence": ("mark-evidence", _Line.SingleUnderline),
    "kept": ("mark-kept", _Line.DashDotLine),
    "judge": ("mark-judge", _Line.DashUnderline),
    "other": ("mark-other", _Line.DotLine),
    "find": ("mark-find", _Line.NoUnderline),
    "find-current": ("mark-find-current", _Line.WaveUnderline),
}
_SHEET = """
p, li { line-height: 135%%; }
p { margin-top: 0px; margin-bottom: %(gap)spx; }
h1 { font-size: x-large; margin-top: %(above)spx; margin-bottom: %(gap)spx; }
h2 { font-size: large; margin-top: %(above)spx; margin-bottom: %(gap)spx; }
h3, h4, h5, h6 { font-size: medium; margin-top: %(above)spx; margin-bottom: %(small)spx; }
ul, ol { margin-top: 0px; margin-bottom: %(gap)spx; }
li { margin-bottom: %(small)spx; }
img { vertical-align: middle; }
a { color: %(link)s; text-decoration: underline; }
table { border-collapse: collapse; border-style: solid; border-color: %(border)s;
  margin-top: %(small)spx; margin-bottom: %(gap)spx; }
th { background-color: %(sunken)s; font-weight: 600; }
code { font-family: '%(mono)s'; background-color: %(code)s; }
pre { font-family: '%(mono)s'; background-color: %(code)s; white-space: pre-wrap; margin-top: %(small)spx;
  margin-bottom: %(gap)spx; }
blockquote { color: %(muted)s; margin-left: %(indent)spx; margin-top: 0px; margin-bottom: %(gap)spx; }
"""


def style_sheet() -> str:
    """The style sheet of a report's document in the present colours and sizes."""
    px = theme.current().px
    return _SHEET % {
        "gap": px(9),
        "small": px(4),
        "above": px(16),
        "indent": px(18),
        "link": theme.token("link").name(),
        "border": theme.token("border-strong").name(),
        "sunken": theme.token("sunken").name(),
        "code": theme.token("code").name(),
        "muted": theme.token("text-muted").name(),
        "mono": QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family(),
    }


def mark_format(kind: str) -> QTextCharFormat:
    """How words marked as that kind look; KeyError for an unknown kind."""
    colour, line = MARKS[kind]
    look = QTextCharFormat()
    look.setBackground(theme.token(colour))
    look.setForeground(theme.token("on-mark"))
    look.setUnderlineStyle(line)
    look.setUnderlineColor(theme.token("on-mark"))
    return look


def selection(view: QTextEdit, start: int, end: int, kind: str) -> QTextEdit.ExtraSelection:
    """A mark over the characters [start, end) of the view's document, counted as Qt counts."""
    made = QTextEdit.ExtraSelection()
    cursor = view.textCursor()
    cursor.setPosition(start)
    cursor.setPosition(end, cursor.MoveMode.KeepAnchor)
    made.cursor = cursor
    made.format = mark_format(kind)
    return made
