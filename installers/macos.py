"""What a Mac is told of the program: its kinds of file, so that a double-click opens them."""

from __future__ import annotations

from typing import Any

from installers.payload import ICNS, FileKind, file_kinds, version

IDENTITY = "org.goldsmith.goldsmith"


def info() -> dict[str, Any]:
    """What build.spec adds to the bundle's Info.plist."""
    kinds = file_kinds()
    return {
        "CFBundleShortVersionString": version(),
        "CFBundleVersion": version(),
        "LSMinimumSystemVersion": "13.0",
        "NSHighResolutionCapable": True,
        "CFBundleDocumentTypes": [_document(kind) for kind in kinds],
        "UTExportedTypeDeclarations": [_type(kind) for kind in kinds],
    }


def _identity(kind: FileKind) -> str:
    return f"{IDENTITY}.{kind.short}"


def _document(kind: FileKind) -> dict[str, Any]:
    return {
        "CFBundleTypeName": kind.words,
        "CFBundleTypeRole": "Editor" if kind.short == "project" else "Viewer",
        "CFBundleTypeIconFile": ICNS.name,
        "LSHandlerRank": "Owner",
        "LSItemContentTypes": [_identity(kind)],
    }


def _type(kind: FileKind) -> dict[str, Any]:
    """Plain data, although tasks are archives: a browser must not unpack them on arrival."""
    return {
        "UTTypeIdentifier": _identity(kind),
        "UTTypeDescription": kind.words,
        "UTTypeConformsTo": ["public.data"],
        "UTTypeTagSpecification": {
            "public.filename-extension": [kind.ending.lstrip(".")],
            "public.mime-type": [kind.mime],
        },
    }
