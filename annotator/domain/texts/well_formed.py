"""What came from outside: a record that does not fit is refused in words, and what would hide letters is shown."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from annotator.domain.texts.refusal import Refusal

Record = TypeVar("Record", bound=BaseModel)
# Controls but for line feed and tab, separators of lines, and what turns the direction of the letters after it; the
# isolates U+2068 and U+2069 turn nothing by themselves, and stand around names.
_HIDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066\u2067]")


def visible(text: str, form: str = "⟨U+{:04X}⟩") -> str:
    """A text whose control characters and overrides of direction are written out, so that they do nothing."""
    return _HIDING.sub(lambda found: form.format(ord(found[0])), text)


def well_formed(model: type[Record], values: Mapping[str, Any]) -> Record:
    """The record of these values; Refusal names the first that does not fit, too long a note for example."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]).replace("_", " ")
        raise Refusal(f"The {name} does not fit: {first['msg'].lower()}.", "Nothing was changed.") from None
