"""What work that travels by file is packed in: tasks that go out and work that comes back."""

from annotator.exchange.package_manifest import (
    FORMAT_VERSION,
    TASK,
    UPGRADERS,
    WORK,
    Facts,
    Format,
    Manifest,
    Package,
    refuse_forged,
    suffix,
    upgrade,
    verify,
)
from annotator.exchange.package_reading import read_package
from annotator.exchange.package_writing import package_bytes, write_package
from annotator.exchange.receipts import receipt_code, receipt_holds, same_receipt

__all__ = [
    "FORMAT_VERSION",
    "TASK",
    "UPGRADERS",
    "WORK",
    "Facts",
    "Format",
    "Manifest",
    "Package",
    "package_bytes",
    "read_package",
    "receipt_code",
    "receipt_holds",
    "refuse_forged",
    "same_receipt",
    "suffix",
    "upgrade",
    "verify",
    "write_package",
]
