"""Judgements, possibly millions, buffered on disk while a release is written."""

import tempfile
import weakref
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import orjson

from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.release.records import JudgementRecord

# Under which protocol, by what kind of rater, by whom, and whether it came.
Told = tuple[str, RaterKind, str, Status]


class Spool(Collection[JudgementRecord]):
    """Judgements in an unnamed file, in order; each reading starts at the first."""

    def __init__(self, records: Iterable[JudgementRecord]) -> None:
        """Refusal when the disk has no room for them."""
        self._length = 0
        self.tally = Counter[Told]()
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the spool
        weakref.finalize(self, self._file.close)
        try:
            for record in records:
                self._length += self._file.write(orjson.dumps(record.model_dump(mode="json")) + b"\n")
                self.tally[_told(record)] += 1
            self._file.flush()
        except OSError as error:
            raise Refusal(
                f"The judgements could not be laid aside for the release: {error.strerror or error}.",
                "Free some space in the temporary folder and try again.",
            ) from error

    def trees(self) -> Iterator[dict[str, Any]]:
        place = 0
        while place < self._length:
            # Two may read in turns.
            self._file.seek(place)
            line = self._file.readline()
            place += len(line)
            yield orjson.loads(line)

    def __iter__(self) -> Iterator[JudgementRecord]:
        return (JudgementRecord(**tree) for tree in self.trees())

    def __len__(self) -> int:
        return self.tally.total()

    def __contains__(self, record: object) -> bool:
        return any(each == record for each in self)


def tally(judgements: Iterable[JudgementRecord]) -> Counter[Told]:
    """How many there are by protocol, kind of rater, rater and status."""
    return judgements.tally if isinstance(judgements, Spool) else Counter(map(_told, judgements))


def _told(record: JudgementRecord) -> Told:
    return record.protocol, record.rater_kind, record.rater_id, record.status
