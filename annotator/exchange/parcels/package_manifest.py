"""The manifest of a package: its kind, its project, its entries and its signature."""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from annotator import __version__
from annotator.domain.texts.canonical import Text, canonical_json, sha256
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.folders import pretty
from annotator.exchange.parcels.package_layout import LARGEST_MANIFEST, MANIFEST, checked_content
from annotator.exchange.parcels.signatures import is_signed_by, public_key, sign
from annotator.exchange.reading import parse

Format = Literal["goldsmith-task", "goldsmith-work"]
TASK: Format = "goldsmith-task"
WORK: Format = "goldsmith-work"
# Major: what an older program could misread. Minor: what it can keep without knowing it.
FORMAT_VERSION = "2.1"
MAJOR = 2
AGAIN = "Nothing was changed; ask for the file again."
# So many versions are told of a package at most.
MOST_PROGRAMS = 20

# From which major version, and the pure function that tells the JSON trees of a package in the next one's words.
# Versions that were released are kept permanently. What format 1 holds is worded as in format 2; only its signature, an
# HMAC whose key travelled in the task, is another.
UPGRADERS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: lambda trees: trees}

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Signature = Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]
Id = Annotated[Text, Field(min_length=1, max_length=200)]
_VERSION = re.compile(r"([0-9]{1,4})\.[0-9]{1,4}")
_APP_VERSION = r"^[0-9A-Za-z.+-]{1,40}$"


class PackageFacts(BaseModel):
    """What the person who packs says of a package; `extra` holds JSON facts that are signed with the rest."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)
    format: Format
    format_version: str = Field(default=FORMAT_VERSION, pattern=r"^[0-9]{1,4}\.[0-9]{1,4}$")
    app_version: str = Field(default=__version__, pattern=_APP_VERSION)
    package_id: Id
    project_id: Id
    person_id: Id
    extra: dict[str, Any] = Field(default_factory=dict)


class EntrySum(BaseModel):
    """The hash and length of one entry."""

    model_config = ConfigDict(frozen=True, strict=True, extra="allow")
    sha256: Digest
    bytes: int = Field(ge=0)


class PackageManifest(PackageFacts):
    """The facts, every entry's sum, the hash over the sums, who signed all of it, and the signature.

    Fields that a later minor version added are kept. Format 1 has an HMAC instead, which no person signed.
    """

    model_config = ConfigDict(extra="allow")
    entries: dict[str, EntrySum]
    content_sha256: Digest
    signer: Digest | None = Field(default=None, description="The public key, in hexadecimal")
    signature: Signature | None = None
    hmac: Digest | None = None

    @model_validator(mode="after")
    def _signed_in_one_way(self) -> "PackageManifest":
        old = _major(self.format_version) == 1
        given = [value is not None for value in (self.signer, self.signature, self.hmac)]
        if given != ([False, False, True] if old else [True, True, False]):
            raise ValueError("it is not signed as its format asks")
        return self


@dataclass(frozen=True, slots=True)
class Package:
    """A package that was read completely: every entry has the stated size and hash.

    It was signed by the owner of `signer`; whether that is the right person is for the reader to ask. Where `signer`
    is empty, no person signed it, and `refuse_forged` asks for the secret. `sha256` is that of the file, `signed` the
    bytes that the signature was made over, `name` what the file is called in messages.
    """

    manifest: PackageManifest
    entries: dict[str, bytes]
    sha256: str
    signed: bytes
    name: str

    @property
    def signer(self) -> str:
        """The public key of anyone who signed it; empty for a package of format 1."""
        return self.manifest.signer or ""

    @property
    def programs(self) -> tuple[str, ...]:
        """The versions of the program it was made with, that which wrote it last."""
        told = self.manifest.extra.get("programs")
        sound = (
            [one for one in told if isinstance(one, str) and re.fullmatch(_APP_VERSION, one)]
            if isinstance(told, list)
            else []
        )
        return *dict.fromkeys(
            one for one in sound[:MOST_PROGRAMS] if one != self.manifest.app_version
        ), self.manifest.app_version

    def trees(self) -> dict[str, Any]:
        """The JSON tree of each JSON entry, told in the words of the present major version."""
        trees = {
            entry: parse(self.entries[entry], entry) for entry in self.entries if entry.endswith(".json")
        }
        return upgrade(trees, self.manifest.format_version)


def suffix(form: Format) -> str:
    return f".{form}"


def manifest_bytes(facts: PackageFacts, entries: Mapping[str, bytes], key: bytes) -> bytes:
    """The manifest of entries, signed with a private key; ValueError or TypeError when a fact is not plain JSON."""
    sums = {name: {"sha256": sha256(entries[name]), "bytes": len(entries[name])} for name in entries}
    tree = facts.model_dump() | {"entries": sums, "content_sha256": content_sha256(sums)}
    tree["signer"] = public_key(key)
    tree["signature"] = sign(signed(tree), key)
    content = pretty(tree)
    if len(content) > LARGEST_MANIFEST or checked_content(MANIFEST, content, MANIFEST) != tree:
        raise ValueError("the facts of a package must be few, and JSON")
    return content


def content_sha256(sums: Any) -> str:
    """The hash over a manifest's entry sums: equal for equal contents, whichever way they were squeezed."""
    return sha256(canonical_json(sums))


def signed(tree: Mapping[str, Any]) -> bytes:
    """What of a manifest's tree is signed: all of it but the signature, which format 1 calls `hmac`."""
    left_out = "hmac" if "hmac" in tree else "signature"
    return canonical_json({key: value for key, value in tree.items() if key != left_out})


def refuse_altered(package: Package) -> None:
    """Refusal unless the person who the package names as its signer signed it just as it is."""
    told = package.manifest
    if told.signer and not is_signed_by(package.signed, told.signature or "", told.signer):
        raise _forged(package)


def refuse_forged(package: Package, secret: bytes) -> None:
    """Refusal unless a package of format 1 was made with that secret and nothing was changed since."""
    made = hmac.new(secret, package.signed, hashlib.sha256).hexdigest()
    if not secret or not hmac.compare_digest(made, package.manifest.hmac or ""):
        raise _forged(package)


def _forged(package: Package) -> Refusal:
    return Refusal(
        f"“{package.name}”: the signature in “{MANIFEST}” does not fit: "
        "the file was changed after it was signed, or belongs to another assignment.",
        AGAIN,
    )


def refuse_version(tree: Mapping[str, Any], name: str) -> None:
    """Refusal when the manifest is of a later major version, or of one that never was."""
    version, app = tree.get("format_version"), tree.get("app_version")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        raise Refusal(f"“{name}”: “{MANIFEST}” does not say the version of its format.", AGAIN)
    if _major(version) < MAJOR and _major(version) not in UPGRADERS:
        raise Refusal(f"“{name}” has format {version}, which was never released.", AGAIN)
    if _major(version) > MAJOR:
        known = isinstance(app, str) and re.fullmatch(_APP_VERSION, app)
        raise Refusal(
            f"“{name}” needs Goldsmith ≥ {app if known else 'the one it was made with'}: "
            f"it has format {version}, and this program reads {MAJOR}.x.",
            "Install the newer Goldsmith and open the file again; nothing was changed.",
        )


def upgrade(trees: dict[str, Any], from_version: str) -> dict[str, Any]:
    """The JSON trees of a package, by entry, in the words of the present major version; the given ones stay as is.

    A later minor version of the same major is taken as it is, with all it brings. KeyError from a major version
    that `refuse_version` refuses.
    """
    for major in range(_major(from_version), MAJOR):
        trees = UPGRADERS[major](trees)
    return trees


def _major(version: str) -> int:
    return int(version.partition(".")[0])
