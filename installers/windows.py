"""Packages for Windows, for one person and without an administrator: setup.exe by NSIS, .msi by wixl."""

from __future__ import annotations

import os
import subprocess
import uuid
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from installers.payload import ICO, FileKind, Payload, file_kinds, filled, tool, version

CLASSES = r"Software\Classes"
MAKER, LICENCE = "The Goldsmith authors", "MIT licence"
# Names one and the same thing from version to version; must never change.
_FAMILY = uuid.UUID("6f0f6a52-3b0c-5c0e-9d55-2f1f0a3f7f10")


def told(program: str = "goldsmith.exe") -> str:
    """What Windows shows among a program's properties, as PyInstaller reads it; build.spec hands it on."""
    numbers = tuple(map(int, _numbers(version()).split(".")))
    words = {
        "CompanyName": MAKER, "FileDescription": "Goldsmith", "FileVersion": version(), "LegalCopyright": LICENCE,
        "OriginalFilename": program, "ProductName": "Goldsmith", "ProductVersion": version(),
    }  # fmt: skip
    table = ", ".join(f"StringStruct({name!r}, {value!r})" for name, value in words.items())
    return (
        f"VSVersionInfo(ffi=FixedFileInfo(filevers={numbers}, prodvers={numbers}, mask=0x3F, flags=0, OS=0x40004, "
        "fileType=1, subtype=0, date=(0, 0)), kids=["
        f"StringFileInfo([StringTable('040904B0', [{table}])]), VarFileInfo([VarStruct('Translation', [1033, 1200])])])"
    )


def nsis(payload: Payload, folder: Path) -> Path:
    """The setup program."""
    script, made = folder / "goldsmith.nsi", folder / payload.file_name("-setup.exe")
    script.write_text(nsis_script(payload, made), "utf-8-sig")
    subprocess.run([tool("makensis", "nsis"), "-V2", "-WX", str(script)], check=True)
    return made


def nsis_script(payload: Payload, made: Path) -> str:
    """What makensis reads: every file by name, to put and to take away; registry of this person only."""
    kinds = [] if payload.beside else file_kinds()
    return filled(
        "setup.nsi",
        TITLE=payload.title,
        VERSION=payload.version,
        NUMBERS=_numbers(payload.version),
        MAKER=MAKER,
        LICENCE=LICENCE,
        OUT=str(made),
        ICON=str(ICO),
        SIZE=str(sum((payload.folder / name).stat().st_size for name in payload.files) // 1024),
        FILES="\n".join(_put(payload)),
        REMOVED="\n".join(_taken(payload)),
        TYPES="\n".join(line for kind in kinds for line in _registered(kind)),
        NO_TYPES="\n".join(line for kind in kinds for line in _unregistered(kind)),
    )


def _quoted(words: str) -> str:
    return words.replace("$", "$$").replace('"', '$\\"')


def _native(name: str) -> str:
    return _quoted(name.replace("/", "\\"))


def _put(payload: Payload) -> Iterator[str]:
    """The lines that put files down, one folder after the other."""
    before = None
    for name in payload.files:
        parent = PurePosixPath(name).parent
        if parent != before:
            yield f'  SetOutPath "$INSTDIR{"" if parent == PurePosixPath(".") else chr(92) + _native(str(parent))}"'
            before = parent
        yield f'  File "/oname={_quoted(PurePosixPath(name).name)}" "{payload.folder / name}"'


def _taken(payload: Payload) -> Iterator[str]:
    """The lines that take the same files away, and folders that are empty then."""
    for name in payload.files:
        yield f'  Delete "$INSTDIR\\{_native(name)}"'
    for name in reversed(payload.folders):
        yield f'  RMDir "$INSTDIR\\{_native(name)}"'


def _registered(kind: FileKind) -> Iterator[str]:
    key = f"{CLASSES}\\{kind.name}"
    yield f'  WriteRegStr HKCU "{key}" "" "{kind.words}"'
    yield f'  WriteRegStr HKCU "{key}\\DefaultIcon" "" "$INSTDIR\\goldsmith.exe,0"'
    yield f'  WriteRegStr HKCU "{key}\\shell\\open\\command" "" \'"$INSTDIR\\goldsmith.exe" "%1"\''
    yield f'  WriteRegStr HKCU "{CLASSES}\\{kind.ending}" "" "{kind.name}"'
    yield f'  WriteRegStr HKCU "{CLASSES}\\{kind.ending}\\OpenWithProgids" "{kind.name}" ""'


def _unregistered(kind: FileKind) -> Iterator[str]:
    """What was registered goes, unless another program has taken it over or another folder's Goldsmith."""
    key, ending = f"{CLASSES}\\{kind.name}", f"{CLASSES}\\{kind.ending}"
    yield f'  ReadRegStr $0 HKCU "{key}\\shell\\open\\command" ""'
    yield '  ${If} $0 == \'"$INSTDIR\\goldsmith.exe" "%1"\''
    yield f'    DeleteRegKey HKCU "{key}"'
    yield f'    DeleteRegValue HKCU "{ending}\\OpenWithProgids" "{kind.name}"'
    yield f'    DeleteRegKey /ifempty HKCU "{ending}\\OpenWithProgids"'
    yield f'    ReadRegStr $0 HKCU "{ending}" ""'
    yield f'    ${{If}} $0 == "{kind.name}"'
    yield f'      DeleteRegValue HKCU "{ending}" ""'
    yield "    ${EndIf}"
    yield f'    DeleteRegKey /ifempty HKCU "{ending}"'
    yield "  ${EndIf}"


def msi(payload: Payload, folder: Path) -> Path:
    """The package that a university's administration hands out."""
    source, made = folder / "goldsmith.wxs", folder / payload.file_name(".msi")
    source.write_text(msi_source(payload, folder), "utf-8")
    machine = "x64" if payload.machine in ("amd64", "x86_64") else payload.machine
    command = [tool("wixl", "wixl"), "--arch", machine, "-o", made.name, source.name]
    subprocess.run(command, cwd=folder, check=True)
    return made


def msi_source(payload: Payload, folder: Path) -> str:
    """What wixl, and WiX itself, reads: a component for every folder, held by a value of this person's registry.

    wixl takes paths from where it runs, and no others.
    """
    top = ET.Element("DirectoryRef", Id="INSTALLDIR")
    features = ET.Element("Feature", Id="Program", Title=payload.title, Level="1")
    ET.SubElement(features, "ComponentRef", Id="menu")
    places = {"": top}
    held = os.path.relpath(payload.folder, folder)
    for name in payload.folders:
        above, _, last = name.rpartition("/")
        places[name] = ET.SubElement(places[above], "Directory", Id=f"d{len(places)}", Name=last)
    for number, (name, place) in enumerate(places.items()):
        component = _component(payload, held, name, number)
        place.insert(0, component)
        ET.SubElement(features, "ComponentRef", Id=component.attrib["Id"])
    for kind in [] if payload.beside else file_kinds():
        _registered_values(places[""][0], kind)
    return filled(
        "goldsmith.wxs",
        TITLE=payload.title,
        VERSION=_numeric(payload.version),
        MAKER=MAKER,
        PRODUCT=str(uuid.uuid5(_FAMILY, f"{payload.title} {payload.version}")).upper(),
        UPGRADE=str(uuid.uuid5(_FAMILY, payload.title)).upper(),
        ICON=os.path.relpath(ICO, folder),
        FOLDERS=ET.tostring(top, "unicode"),
        FEATURE=ET.tostring(features, "unicode"),
    )


def _component(payload: Payload, held: str, folder: str, number: int) -> ET.Element:
    """A folder's files; the folder goes when it is empty then."""
    made = ET.Element(
        "Component", Id=f"c{number}", Guid=str(uuid.uuid5(_FAMILY, f"{payload.title}/{folder}"))
    )
    for place, name in enumerate(payload.files):
        if name.rpartition("/")[0] == folder:
            called = PurePosixPath(name).name
            ET.SubElement(made, "File", Id=f"f{place}", Name=called, Source=os.path.join(held, name))
    ET.SubElement(made, "RemoveFolder", Id=f"r{number}", On="uninstall")
    key = f"Software\\{payload.title}\\Folders"
    _value(made, key, f"c{number}", folder or ".", KeyPath="yes")
    return made


def _registered_values(component: ET.Element, kind: FileKind) -> None:
    key = f"{CLASSES}\\{kind.name}"
    _value(component, key, "", kind.words)
    _value(component, f"{key}\\DefaultIcon", "", "[INSTALLDIR]goldsmith.exe,0")
    _value(component, f"{key}\\shell\\open\\command", "", '"[INSTALLDIR]goldsmith.exe" "%1"')
    _value(component, f"{CLASSES}\\{kind.ending}", "", kind.name)


def _value(component: ET.Element, key: str, name: str, value: str, **more: str) -> None:
    named = {"Root": "HKCU", "Key": key, "Type": "string", "Value": value} | ({"Name": name} if name else {})
    ET.SubElement(component, "RegistryValue", named | more)


def _numeric(version: str) -> str:
    """A version as Windows Installer compares it: three numbers."""
    return ".".join(part for part in version.replace("rc", ".").split(".")[:3] if part.isdigit())


def _numbers(version: str) -> str:
    """A version as programs' properties have it: four numbers."""
    result = _numeric(version).split(".")
    return ".".join([*result, *["0"] * (4 - len(result))])
