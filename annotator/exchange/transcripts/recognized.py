"""Transcripts of speech recognition as JSON: Whisper's segments, with speakers or without, and whisper.cpp's."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from annotator.domain.material.transcript import UNKNOWN, Doubt
from annotator.domain.texts.canonical import Text
from annotator.exchange.release.bundle import in_words
from annotator.exchange.transcripts.said import ReadTranscript, SpokenLine, in_order, with_repeats

# Where Whisper itself takes a segment for failed or for silence.
LEAST_LOGPROB, MOST_SILENCE, MOST_COMPRESSION = -1.0, 0.6, 2.4
_LATEST = 10_000_000
Seconds = Annotated[float, Field(ge=0, le=_LATEST)]
Milliseconds = Annotated[int, Field(ge=0, le=_LATEST * 1000)]
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*")


class _Heard(BaseModel):
    """An entry as some program wrote it: what it says beside is of no account here."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)
    text: Text
    speaker: Text | int | None = None

    def said(self, start: int, end: int, doubts: tuple[Doubt, ...] = ()) -> SpokenLine:
        """Its words as a line; ValueError where it ends before it begins."""
        if UNKNOWN < end < start:
            raise ValueError("ends before it begins")
        speaker = "" if self.speaker is None else " ".join(str(self.speaker).split())
        return SpokenLine(" ".join(self.text.split()), start, end, speaker, doubts)


class _WhisperSegment(_Heard):
    start: Seconds | None = None
    end: Seconds | None = None
    avg_logprob: float | None = None
    no_speech_prob: float | None = None
    compression_ratio: float | None = None

    def line(self) -> SpokenLine:
        """The line that it is."""
        found = {
            Doubt.UNSURE: (self.avg_logprob or 0) < LEAST_LOGPROB,
            Doubt.SILENCE: (self.no_speech_prob or 0) > MOST_SILENCE,
            Doubt.REPETITIVE: (self.compression_ratio or 0) > MOST_COMPRESSION,
        }
        start, end = (UNKNOWN if one is None else round(one * 1000) for one in (self.start, self.end))
        return self.said(start, end, tuple(doubt for doubt, so in found.items() if so))


class _Offsets(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    begin: Milliseconds = Field(alias="from")
    end: Milliseconds = Field(alias="to")


class _Cut(_Heard):
    offsets: _Offsets

    def line(self) -> SpokenLine:
        """The line that it is."""
        return self.said(self.offsets.begin, self.offsets.end)


def read(tree: Any) -> ReadTranscript:
    """What speech recognition heard; entries that do not fit are told by their place in the list."""
    found = ReadTranscript()
    # Some programs write the list alone.
    tree = {"segments": tree} if tree and isinstance(tree, list) else tree
    for name, kind in (("segments", _WhisperSegment), ("transcription", _Cut)):
        entries = tree.get(name) if isinstance(tree, Mapping) else None
        if isinstance(entries, list):
            _take(found, name, kind, entries)
            break
    else:
        found.bad.append("holds neither “segments” (Whisper) nor “transcription” (whisper.cpp)")
        return found
    result = tree.get("result")
    told = tree.get("language") or (result.get("language") if isinstance(result, Mapping) else "")
    found.language = told if isinstance(told, str) and _LANGUAGE.fullmatch(told) else ""
    in_order(found)
    found.said = with_repeats(found.said)
    return found


def _take(
    found: ReadTranscript, name: str, kind: type[_WhisperSegment] | type[_Cut], entries: list[Any]
) -> None:
    for place, entry in enumerate(entries):
        try:
            line = kind.model_validate(entry).line()
        except ValidationError as error:
            found.bad.append(f"{name}[{place}]: {in_words(error)}")
        except ValueError as error:
            found.bad.append(f"{name}[{place}]: {error}")
        else:
            if line.text:
                found.said.append(line)
