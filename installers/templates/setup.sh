#!/bin/sh
# Installs @TITLE@ for this person: no password, nothing outside the home folder.
set -eu
from=$(cd "$(dirname "$0")" && pwd)
target=$HOME/.local/lib/@SLUG@
if [ -e "$target/uninstall.sh" ]; then
    echo "Replacing the @TITLE@ that is there ..."
    sh "$target/uninstall.sh" > /dev/null
fi
while IFS= read -r name; do
    if [ -e "$target/$name" ] || [ -L "$target/$name" ]; then
        echo "Nothing was installed: $target/$name is there already, and is not from an installation." >&2
        exit 1
    fi
done < "$from/files.txt"
mkdir -p "$target" "$HOME/.local/bin"
cp -R "$from/program/." "$target/"
cp "$from/uninstall.sh" "$from/files.txt" "$from/folders.txt" "$target/"
link=$HOME/.local/bin/@SLUG@
if [ -L "$link" ] || [ ! -e "$link" ]; then ln -sf "$target/goldsmith" "$link"; fi
if [ -z "@BESIDE@" ]; then
    sh "$target/_internal/annotator/resources/desktop/install.sh" "$target/goldsmith"
fi
echo "@TITLE@ is installed in $target. Start it: $link"
echo "To remove it: sh $target/uninstall.sh"
