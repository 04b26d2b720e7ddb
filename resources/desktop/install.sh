#!/bin/sh
# Tells this user's desktop that Goldsmith opens its own files; needs no password.
# Run it as:  sh install.sh /path/to/goldsmith
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${1:-$(command -v goldsmith || true)}
if [ ! -x "$program" ]; then
    echo "Say where the program lies: sh install.sh /path/to/goldsmith" >&2
    exit 1
fi
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
data=${XDG_DATA_HOME:-$HOME/.local/share}
mkdir -p "$data/applications" "$data/mime/packages" "$data/icons/hicolor/scalable/apps"
# A path with blanks or signs is quoted as the desktop entry specification asks.
quoted=$(printf '%s' "$program" | sed 's/[\\"`$]/\\&/g')
grep -v '^Exec=' "$here/goldsmith.desktop" > "$data/applications/goldsmith.desktop"
printf 'Exec="%s" %%f\n' "$quoted" >> "$data/applications/goldsmith.desktop"
cp "$here/goldsmith-mime.xml" "$data/mime/packages/goldsmith.xml"
cp "$here/../icons/goldsmith.svg" "$data/icons/hicolor/scalable/apps/goldsmith.svg"
if command -v update-mime-database > /dev/null; then update-mime-database "$data/mime"; fi
if command -v update-desktop-database > /dev/null; then update-desktop-database "$data/applications"; fi
echo "Goldsmith opens its files by double-click from now on."
