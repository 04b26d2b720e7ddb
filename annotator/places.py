"""Locations: files shipped with the program, the user's folders, and the system's certificates."""

import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ssl import SSLContext

PACKAGE = Path(__file__).resolve().parent


@cache
def resources() -> Path:
    """The folder of shipped files: beside the package in a checkout, inside it once installed."""
    return _shipped("resources")


@cache
def schemas() -> Path:
    """The folder of published JSON Schemas."""
    return _shipped("schemas")


def _shipped(name: str) -> Path:
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name


@cache
def user_data() -> Path:
    """The user's local (never roaming) folder for the sample, backups' index and settings."""
    from platformdirs import user_data_path

    return user_data_path("goldsmith", appauthor=False, roaming=False)


def user_config() -> Path:
    """The user's folder for decisions about this machine, such as which key may go to which address."""
    from platformdirs import user_config_path

    return user_config_path("goldsmith", appauthor=False, roaming=False)


@cache
def trusted() -> "SSLContext":
    """An SSL context that trusts the system's certificates, wherever it stores them. Cached: reading takes a while."""
    from ssl import PROTOCOL_TLS_CLIENT, SSLContext

    from httpx2 import create_ssl_context

    try:
        return create_ssl_context()
    except OSError:
        # Nobody is trusted; `no_certificates` says why.
        return SSLContext(PROTOCOL_TLS_CLIENT)


def no_certificates() -> str:
    """Why no server's certificate can be verified here, in words; empty if the system has certificates."""
    if sys.platform in ("win32", "darwin") or trusted().get_ca_certs():
        return ""
    from ssl import get_default_verify_paths

    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        named = os.environ.get(name)
        if named and not os.path.exists(named):
            return f"{name} names {named}, which is not there."
    folder = get_default_verify_paths().capath
    # Certificates of a folder are read one by one, on demand.
    if folder and os.listdir(folder):
        return ""
    return "This machine has no certificates; install ca-certificates."
