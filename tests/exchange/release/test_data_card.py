"""The data card: counts that can be checked by hand, and no name that is not an alias."""

from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.data_card import NO_LICENCE, ReleaseFacts, text
from tests.material.bundles import rich_bundle


def test_the_card_counts_what_is_in_the_release() -> None:
    card = text(rich_bundle(), ReleaseFacts(title="Rain"))
    for line in (
        "# Rain",
        "| items | 2 | – |",
        "| rubric (artifact) | 1 | 2 |",
        "| ja | 1 | 50.0 % |",
        "| 3 | 1 | 50.0 % |",
        "| R1 | person | 0 | 1 |",
        "| R2 | person | 1 | 0 |",
        "| J | judge, m | 0 | 2 |",
        "| researcherbench.coverage | timeout | 1 |",
    ):
        assert line in card.splitlines()


def test_the_card_gives_the_formula_and_the_licence() -> None:
    assert "Σ wᵢ·bᵢ / Σ wᵢ" in text(rich_bundle(), ReleaseFacts(title="T"))
    assert NO_LICENCE in text(rich_bundle(), ReleaseFacts(title="T"))
    assert NO_LICENCE not in text(rich_bundle(), ReleaseFacts(title="T", licence="CC BY 4.0"))


def test_the_card_does_not_depend_on_the_number() -> None:
    assert text(rich_bundle(), ReleaseFacts(title="T", number=1)) == text(
        rich_bundle(), ReleaseFacts(title="T", number=2)
    )


def test_a_title_cannot_break_the_card_and_nothing_at_all_is_said() -> None:
    card = text(Bundle(), ReleaseFacts(title="A\n## B | c"))
    assert card.startswith("# A ## B | c\n")
    assert "There are no judgements yet." in card
