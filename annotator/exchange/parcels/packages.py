"""Packages: task files that go out and work files that come back."""

from annotator.exchange.parcels.package_manifest import (
    FORMAT_VERSION,
    TASK,
    UPGRADERS,
    WORK,
    Format,
    Package,
    PackageFacts,
    PackageManifest,
    refuse_forged,
    suffix,
    upgrade,
)
from annotator.exchange.parcels.package_reading import read_package
from annotator.exchange.parcels.package_writing import package_bytes
from annotator.exchange.parcels.receipts import receipt_code
from annotator.exchange.parcels.signatures import fingerprint, new_key, public_key

__all__ = [
    "FORMAT_VERSION",
    "TASK",
    "UPGRADERS",
    "WORK",
    "Format",
    "Package",
    "PackageFacts",
    "PackageManifest",
    "fingerprint",
    "new_key",
    "package_bytes",
    "public_key",
    "read_package",
    "receipt_code",
    "refuse_forged",
    "suffix",
    "upgrade",
]
