#!/bin/sh
# Takes back what install.sh told this user's desktop, if it was told of this program.
# Run it as:  sh uninstall.sh /path/to/goldsmith
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${1:?"Say where the program lies: sh uninstall.sh /path/to/goldsmith"}
data=${XDG_DATA_HOME:-$HOME/.local/share}
entry=$data/applications/goldsmith.desktop
quoted=$(printf '%s' "$program" | sed 's/[\\"`$]/\\&/g')
if [ ! -f "$entry" ] || ! grep -qxF "Exec=\"$quoted\" %f" "$entry"; then
    echo "This user's desktop opens Goldsmith's files with another program, or with none."
    exit 0
fi
rm -f "$entry"
# What was changed by hand since is somebody's own.
mine() { if cmp -s "$1" "$2"; then rm -f "$2"; fi; }
mine "$here/goldsmith-mime.xml" "$data/mime/packages/goldsmith.xml"
mine "$here/../icons/goldsmith.svg" "$data/icons/hicolor/scalable/apps/goldsmith.svg"
if command -v update-mime-database > /dev/null; then update-mime-database "$data/mime"; fi
if command -v update-desktop-database > /dev/null; then update-desktop-database "$data/applications"; fi
echo "This user's desktop no longer opens files with Goldsmith."
