"""How a project of very many items comes about, for the benchmarks of lists."""

import random
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from annotator.actions.project.people import new_project
from annotator.storage import store
from annotator.storage.connection import engine_over, raw_connection

WORDS = """
evidence claim reproduce ablation retrieval corpus annotator criterion weight statement judge report system
benchmark survey latency robust gradient entropy protein membrane catalyst polymer orbit magnet plasma
tensor citation passage quotation agreement interval bootstrap kappa confusion baseline prompt token context
memory
""".split()  # noqa: SIM905 - forty lines otherwise
TYPES = ("Technical Details", "Literature Review", "Open Consulting")
SUBJECTS = tuple(f"Subject {number}" for number in range(40))


def create(path: Path, count: int, *, searchable: bool = True) -> None:
    """A project file with so many made-up items of about thirty words; one in a thousand speaks of lanthanum."""
    new_project(path).close()
    with closing(raw_connection(path)) as raw, engine_over(raw).connect() as db:
        raw.execute("BEGIN")
        raw.executemany(
            "INSERT INTO item (key, dataset, question, question_type, subject, language, position, retired, id, sha256)"
            " VALUES (:key, '', :question, :type, :subject, 'en', :number, 0, :id, '')",
            rows(count),
        )
        if searchable:
            store.rebuild(db)
        raw.execute("COMMIT")


def rows(count: int) -> Iterator[dict[str, object]]:
    chance = random.Random(7)
    for number in range(count):
        words = chance.choices(WORDS, k=30)
        if number % 1000 == 500:
            words[3] = "lanthanum"
        yield {
            "key": str(number + 1),
            "question": f"How does {' '.join(words)} compare?",
            "type": TYPES[number % 3],
            "subject": SUBJECTS[number % 40],
            "number": number,
            "id": str(uuid.UUID(int=chance.getrandbits(128))),
        }
