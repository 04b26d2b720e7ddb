"""Write this release with its test items as they are: python decode.py FOLDER

Their texts are encrypted, so that crawlers and training sets do not take them in: each is XORed with the SHA-256 of the
release's canary, repeated to its length, in base64 behind “goldsmith-encrypted:”. The key is in this folder; nothing is
kept from whoever runs this. Do not publish what it writes.
"""

import json
import re
import sys
from base64 import b64decode
from hashlib import sha256
from itertools import cycle
from pathlib import Path

HERE = Path(__file__).parent
ENCRYPTED = re.compile(rb'"goldsmith-encrypted:([A-Za-z0-9+/]+=*)"')


def decoded(text: str, canary: str) -> str:
    """One text of the release, without the mark before it."""
    key = cycle(sha256(canary.encode()).digest())
    return bytes(byte ^ mask for byte, mask in zip(b64decode(text), key, strict=False)).decode()


def decode(content: bytes, canary: str) -> bytes:
    """A JSON file, with no other byte changed."""
    return ENCRYPTED.sub(
        lambda match: json.dumps(decoded(match[1].decode(), canary), ensure_ascii=False).encode(), content
    )


def main(folder: Path) -> None:
    if folder.exists():
        raise SystemExit(f"{folder} is there already. Name a new folder.")
    canary = json.loads((HERE / "manifest.json").read_text("utf-8"))["publication"]["canary"]
    paths = sorted(path for path in HERE.rglob("*") if path.is_file() and path.suffix != ".parquet")
    files = {path.relative_to(HERE).as_posix(): path.read_bytes() for path in paths}
    del files["SHA256SUMS"], files["decode.py"]
    plain = {
        name: decode(content, canary) if Path(name).suffix in (".json", ".jsonl") else content
        for name, content in files.items()
    }
    for lists in ("manifest.json", "croissant.json"):
        for name, content in plain.items():
            plain[lists] = listed(plain[lists], name, files[name], content)
    plain["manifest.json"] = plain["manifest.json"].replace(b'  "test_items": "encrypted",\n', b"")
    sums = (f"{sha256(plain[name]).hexdigest()}  {name}\n" for name in sorted(plain))
    plain["SHA256SUMS"] = "".join(sums).encode()
    for name, content in plain.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def listed(tree: bytes, name: str, before: bytes, after: bytes) -> bytes:
    """A list of files with the size and the checksum that one of them has now."""
    for size in (
        f'"bytes": %d,\n      "path": "{name}"',
        f'"contentSize": "%d B",\n      "contentUrl": "{name}"',
    ):
        tree = tree.replace((size % len(before)).encode(), (size % len(after)).encode())
    return tree.replace(sha256(before).hexdigest().encode(), sha256(after).hexdigest().encode())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
