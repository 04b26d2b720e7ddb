"""The validity card as one self-contained page, for reading, printing and importing."""

import re
from collections.abc import Iterator
from html import escape

from annotator.domain.judges.validity_card import ValidityCard
from annotator.domain.texts.canonical import sha256
from annotator.exchange.cards import card_beside, card_figures, card_provenance
from annotator.exchange.cards.card_parts import digest, listed, lost, moment, plain, say

CARRIED = "goldsmith-card"
_STYLE = """\
@page { size: A4; margin: 15mm; }
body { font-family: system-ui, 'Segoe UI', 'Noto Sans', sans-serif; font-size: 10pt; line-height: 1.35;
  color: #000; background: #fff; max-width: 190mm; margin: 6mm auto; padding: 0 4mm; }
h1 { font-size: 17pt; margin: 0 0 1mm; }
h2 { font-size: 12pt; margin: 6mm 0 1.5mm; border-bottom: 1px solid #000; break-after: avoid; }
h3 { font-size: 10.5pt; margin: 4mm 0 1mm; break-after: avoid; }
p { margin: 1.5mm 0; }
ul { margin: 1mm 0 1mm 5mm; padding: 0; }
table { border-collapse: collapse; margin: 1.5mm 0 3mm; }
th, td { border: 1px solid #555; padding: 0.8mm 1.6mm; text-align: start; vertical-align: top; }
th { font-weight: 600; }
thead { display: table-header-group; }
tr { break-inside: avoid; }
.facts th { width: 42mm; }
small { font-size: 8pt; }
.warn { border: 2px solid #000; padding: 1.5mm 2.5mm; font-weight: 600; }
code, pre { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 7.5pt; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; }
@media print { body { margin: 0; padding: 0; max-width: none; } details { display: none; } }
"""
_SEAL = re.compile(r'<meta name="goldsmith-page" content="([0-9a-f]{64})">')


def page(card: ValidityCard, carried: str) -> str:
    """The whole page of a card, which carries its JSON."""
    text = f"""\
<!DOCTYPE html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="goldsmith-page" content="">
<meta name="viewport" content="width=device-width">
<title>Validity card: {escape(card.name)}</title>
<style>
{_STYLE}</style>
</head>
<body>
{body(card)}<details><summary>The card as JSON, for programs</summary>
<pre id="{CARRIED}" dir="ltr">{escape(carried)}</pre>
</details>
</body>
</html>
"""
    return text.replace(
        'name="goldsmith-page" content=""', f'name="goldsmith-page" content="{sha256(text)}"', 1
    )


def is_whole(text: str) -> bool:
    """Whether a page says what it said when it was written."""
    found = _SEAL.search(text)
    return found is not None and sha256(text.replace(found[1], "", 1)) == found[1]


def body(card: ValidityCard) -> str:
    """What the page says, without the JSON: tables and sentences that any reader of simple HTML can show."""
    return "".join(_parts(card))


def sketch(card: ValidityCard) -> str:
    """What a page says at once of a card that is still being made."""
    return (
        f"<h1>Validity card: {say(card.name)}</h1>\n"
        "<p>It is still being made: intervals, groups, corrected scores and the rest are being counted.</p>\n"
        f"<h2>In short</h2>\n{card_provenance.short(card, begun=True)}<h2>The judge</h2>\n{card_provenance.judge(card)}"
        f"<h2>The labels</h2>\n{card_provenance.labels(card)}"
    )


def _parts(card: ValidityCard) -> Iterator[str]:
    yield f"<h1>Validity card: {say(card.name)}</h1>\n"
    yield f"<p>{say(card.protocol_title)}. Made on {moment(card.made_at)} with Goldsmith {plain(card.app_version)}"
    yield f" in the project {say(card.project)}.</p>\n" if card.project else ".</p>\n"
    if card.unfit:
        yield f'<p class="warn">Not publishable: {plain(lost(card))}</p>\n'
    yield "<h2>In short</h2>\n" + card_provenance.short(card)
    yield "<h2>The judge</h2>\n" + card_provenance.judge(card)
    yield "<h2>The labels</h2>\n" + card_provenance.labels(card)
    yield "<h2>The judge beside people</h2>\n" + card_figures.figures(card) + card_figures.confusion(card)
    yield from card_figures.groups(card)
    yield "<h2>Missing verdicts, and cost</h2>\n" + card_beside.missing(card)
    yield "<h2>Reviews: informed, apart from all figures above</h2>\n" + card_beside.reviews(card.reviews)
    yield "<h2>Scores corrected by people's labels</h2>\n" + card_beside.corrected(card.corrected)
    yield "<h2>Attacks</h2>\n" + card_beside.attacks(card)
    yield "<h2>Notes</h2>\n" + listed(card.notes)
    yield "<h2>Where this card holds</h2>\n" + _where(card)


def _where(card: ValidityCard) -> str:
    return (
        "<p>The card speaks of this judge as it is described above, and of no other: another model, other parameters, "
        "another wording of the prompt, another form of answers, more units in a call or another protocol make "
        "another judge. Checked against a project by “goldsmith card PROJECT --check FILE” it says what differs.</p>\n"
        f"<p>SHA-256 of the card: {digest(card.sha256)}<br>It shows that the card was not changed by accident; it is "
        "no signature.</p>\n"
    )
