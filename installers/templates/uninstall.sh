#!/bin/sh
# Removes what the installer of @TITLE@ brought, and nothing else: projects, settings and keys stay.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
link=$HOME/.local/bin/@SLUG@
if [ -z "@BESIDE@" ]; then
    sh "$here/_internal/annotator/resources/desktop/uninstall.sh" "$here/goldsmith"
fi
if [ "$(readlink "$link" || true)" = "$here/goldsmith" ]; then rm -f "$link"; fi
while IFS= read -r name; do rm -f "$here/$name"; done < "$here/files.txt"
while IFS= read -r name; do rmdir "$here/$name" 2> /dev/null || true; done < "$here/folders.txt"
rm -f "$here/files.txt" "$here/folders.txt" "$here/uninstall.sh"
if rmdir "$here" 2> /dev/null; then
    echo "@TITLE@ is removed. Projects and settings are where they were."
else
    echo "@TITLE@ is removed. What else lay in $here is still there."
fi
