"""Charsets: mark before header before the document's own word before a guess."""

import pytest

from annotator.exchange.pages.reading import decoded, known

XML = b"<?xml version='1.0' encoding='ISO-8859-2'?>"
META = b'<meta charset="%s">'


@pytest.mark.parametrize(
    ("content", "content_type", "text"),
    [
        # A byte order mark outranks what the server says; the header outranks the document.
        ("\ufeffé".encode(), "text/html; charset=latin1", "é"),
        ("é".encode("utf-16-le"), "text/html; charset=utf-16", "é"),
        (b"\xff\xfe" + "é".encode("utf-16-le"), "", "é"),
        (META % b"utf-8" + "é".encode("cp1252"), "text/html; charset=iso-8859-1", '<meta charset="utf-8">é'),
        (META % b"windows-1251" + "Ж".encode("cp1251"), "text/html", '<meta charset="windows-1251">Ж'),
        (XML + "ő".encode("iso8859-2"), "", XML.decode() + "ő"),
        ("深度".encode("gb18030"), "text/html;charset=GB2312", "深度"),
        ("テスト".encode("cp932"), "text/html; charset='Shift_JIS'", "テスト"),
        ("한국".encode("cp949"), "text/html; charset=ks_c_5601-1987", "한국"),
        ("naïve – text".encode(), "text/plain", "naïve – text"),
        ("naïve – text".encode("cp1252"), "text/plain", "naïve – text"),
        ("naïve".encode(), "text/plain; charset=nonsense", "naïve"),
        ("naïve".encode(), "text/plain; charset=rot13", "naïve"),
    ],
)  # fmt: skip
def test_bytes_become_the_characters_they_were_written_as(
    content: bytes, content_type: str, text: str
) -> None:
    assert decoded(content, content_type) == text


def test_a_meta_that_says_utf_16_was_not_read_as_such() -> None:
    # Encoding Standard, prescan: whoever read that label did not read two bytes at a time.
    assert decoded(META % b"utf-16" + "é".encode()).endswith("é")


def test_one_wrong_byte_is_marked_and_many_are_no_text() -> None:
    assert decoded(b"a" * 20 + b"\xff", "text/plain; charset=utf-8").endswith("\ufffd")
    with pytest.raises(UnicodeError):
        decoded(bytes(range(128, 256)) * 9, "text/plain; charset=utf-8")


def test_a_character_cut_off_at_the_end_changes_no_other() -> None:
    assert decoded("naïve é".encode()[:-1]) == "naïve \ufffd"


@pytest.mark.parametrize(
    "label", ["base64", "zip", "idna", "unicode_escape", "utf-7", "punycode", "", "../utf-8"]
)
def test_codecs_that_are_no_encodings_of_pages_are_unknown(label: str) -> None:
    assert known(label) == ""
