"""Character encodings of fetched pages: byte order mark, server, document, or a guess."""

import codecs
import re

# The labels of the Encoding Standard (encoding.spec.whatwg.org) that Python knows under another name, or would read
# more strictly than browsers do; any other label must be the name of an ordinary encoding of text.
_BROWSERS = {
    "ascii": "cp1252", "us-ascii": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "l1": "cp1252",
    "iso-8859-1": "cp1252", "iso8859-1": "cp1252", "iso_8859-1": "cp1252", "iso88591": "cp1252",
    "iso-8859-9": "cp1254", "latin5": "cp1254", "iso-8859-11": "cp874", "tis-620": "cp874", "windows-874": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "gb_2312-80": "gb18030", "x-gbk": "gb18030", "chinese": "gb18030",
    "big5": "big5hkscs", "big5-hkscs": "big5hkscs", "x-x-big5": "big5hkscs",
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932",
    "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "ksc5601": "cp949", "korean": "cp949", "windows-949": "cp949",
    "unicode": "utf-16-le", "utf-16": "utf-16-le", "utf8": "utf-8", "unicode-1-1-utf-8": "utf-8",
    "x-mac-cyrillic": "mac-cyrillic", "macintosh": "mac-roman", "mac": "mac-roman",
}  # fmt: skip
_ORDINARY = re.compile(
    r"utf-?8|utf-16-?(?:le|be)|(?:windows-|cp)125[0-8]|cp(?:866|874|932|949)|iso-?8859-(?:[2-8]|1[03-6])|koi8-[ru]"
    r"|gb18030|big5hkscs|euc-?jp|iso-2022-jp|mac-(?:roman|cyrillic)"
)
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_META = re.compile(rb"<meta\s[^>]{0,500}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
_HEAD = 4096
# Beyond this share of characters that could not be read, what came is no text in that encoding.
MOST_UNREAD = 0.1


def decoded(content: bytes, content_type: str = "") -> str:
    """The characters of a document; each that cannot be read becomes U+FFFD. UnicodeError when hardly any can."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _readable(content[len(mark) :].decode(encoding, "replace"))
    encoding = _named(content, content_type)
    if encoding:
        return _readable(content.decode(encoding, "replace"))
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        # Cut off in the middle of a character by the server, not written in another encoding.
        if error.start > len(content) - 4:
            return content.decode("utf-8", "replace")
    return _readable(content.decode("cp1252", "replace"))


def _named(content: bytes, content_type: str) -> str:
    header = _HEADER.search(content_type)
    if header and (found := known(header[1])):
        return found
    inside = _XML.search(content[:_HEAD]) or _META.search(content[:_HEAD])
    found = known(inside[1].decode("ascii", "replace")) if inside else ""
    # Anyone who could read the label one byte at a time is not reading two.
    return "utf-8" if found.startswith("utf-16") else found


def known(label: str) -> str:
    """Python's name of the encoding that a label stands for; empty when it stands for none that a page may have."""
    label = label.strip().lower()
    name = _BROWSERS.get(label, label)
    return codecs.lookup(name).name if _ORDINARY.fullmatch(name) else ""


def _readable(text: str) -> str:
    if text.count("\ufffd") > MOST_UNREAD * len(text):
        raise UnicodeError("hardly any of its characters can be read")
    return text
