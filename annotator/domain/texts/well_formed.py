"""What somebody typed as a record: what does not fit is refused in words."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from annotator.domain.texts.refusal import Refusal

Record = TypeVar("Record", bound=BaseModel)


def well_formed(model: type[Record], values: Mapping[str, Any]) -> Record:
    """The record of these values; Refusal names the first that does not fit, too long a note for example."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]).replace("_", " ")
        raise Refusal(f"The {name} does not fit: {first['msg'].lower()}.", "Nothing was changed.") from None
