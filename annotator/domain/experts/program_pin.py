"""Which versions of the program a task may be worked on with, and which installers are to be taken."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from annotator import __version__
from annotator.domain.texts.refusal import Refusal

LONGEST, MOST_INSTALLERS = 100, 20
EXAMPLE = "Write it as for example >=0.1,<0.2; leave it empty for any version."
_COMPARED = {
    ">=": "{} or newer", ">": "newer than {}", "<=": "{} or older", "<": "older than {}",
    "==": "{} alone", "!=": "not {}", "~=": "{} or a later one of that line",
}  # fmt: skip
_INSTALLER = re.compile(r"[\w+-][\w.+ -]{0,119}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
# By the name that Python gives a system, the endings of its installers.
_ENDINGS = {"win32": (".exe", ".msi"), "darwin": (".dmg", ".pkg"), "linux": (".deb", ".run", ".appimage")}


@dataclass(frozen=True, slots=True)
class ProgramPin:
    """The versions that are asked for, comma-separated, and the SHA-256 of installers by name; empty for any."""

    versions: str = ""
    installers: Mapping[str, str] = field(default_factory=dict)

    def allows(self, version: str = "") -> bool:
        """Whether a version of the program, by default this one, is one of those; one that cannot be read is none."""
        if not self.versions:
            return True
        # Loaded for a project that asks for a version, and for no other.
        from packaging.specifiers import SpecifierSet
        from packaging.version import InvalidVersion, Version

        try:
            return SpecifierSet(self.versions).contains(Version(version or __version__), prereleases=True)
        except InvalidVersion:
            return False

    @property
    def words(self) -> str:
        """The versions in words, such as “0.3 or newer, older than 0.4”."""
        parts = (re.match(r"[<>=!~]+", part) for part in self.versions.split(","))
        told = [(part.group(), part.string[part.end() :]) for part in parts if part]
        return ", ".join(_COMPARED[sign].format(version) for sign, version in told) or "any version"

    def refusal(self, system: str = sys.platform) -> Refusal | None:
        """Why this version may only show what is pinned, and which installer to take; None where it may do all."""
        if self.allows():
            return None
        ending = _ENDINGS.get(system, ())
        fitting = {name: sha for name, sha in self.installers.items() if name.lower().endswith(ending)}
        named = [f"“{name}” (SHA-256 {sha})" for name, sha in (fitting or self.installers).items()]
        which = f"Install {' or '.join(named)}" if named else f"Install Goldsmith {self.words},"
        return Refusal(
            f"This task is to be worked on with Goldsmith {self.words}; this is {__version__}, so it is read-only.",
            f"{which} from whoever sent you the task, and open it with that.",
        )


def read(versions: str, installers: Mapping[str, str] | None = None) -> ProgramPin:
    """The pin of a text such as “>=0.1,<0.2”; Refusal where it says no versions, or an installer is not one."""
    from packaging.specifiers import InvalidSpecifier, Specifier

    parts = [part.strip() for part in versions.split(",")] if versions.strip() else []
    try:
        if len(versions) > LONGEST or any(part.startswith("===") for part in parts):
            raise InvalidSpecifier(versions)
        pinned = ",".join(str(Specifier(part)) for part in parts)
    except InvalidSpecifier:
        raise Refusal(f"“{versions[:LONGEST]}” names no versions of Goldsmith.", EXAMPLE) from None
    given = dict(installers or {})
    if odd := [
        name for name, sha in given.items() if not (_INSTALLER.fullmatch(name) and _SHA256.fullmatch(sha))
    ]:
        raise Refusal(
            f"“{odd[0][:LONGEST]}” is not an installer's name with its SHA-256.", "Choose another file."
        )
    if len(given) > MOST_INSTALLERS:
        raise Refusal(f"These are more than {MOST_INSTALLERS} installers.", "Name those of one version.")
    if given and not pinned:
        raise Refusal(
            "Installers are named for no version.", f"Say first which version is asked for. {EXAMPLE}"
        )
    return ProgramPin(pinned, given)


def offered(version: str = __version__) -> str:
    """The pin that a version offers of itself: its own line and no later one, such as >=0.1,<0.2."""
    major, minor, *_ = (int(number) for number in re.findall(r"\d+", f"{version}.0")[:2])
    return f">={major}.{minor},<{major}.{minor + 1}"
