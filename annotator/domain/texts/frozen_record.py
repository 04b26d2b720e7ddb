"""The base class of stored records: frozen, without unknown fields or infinite numbers."""

from pydantic import BaseModel, ConfigDict


class FrozenRecord(BaseModel):
    """A record that does not change once it is made; unknown fields and infinite numbers are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
