#!/bin/sh
# Tries a .deb or .run where it is to run: installs it, opens the sample by its file under X11 and Wayland, removes it.
# In a container or a machine of its own, as root:  sh installers/smoke.sh PACKAGE FOLDER-FOR-PICTURES
set -eu
package=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mkdir -p "$2"
pictures=$(cd "$2" && pwd)
id tester > /dev/null 2>&1 || useradd --create-home --shell /bin/sh tester
home=$(getent passwd tester | cut -d: -f6)
as_tester() { su - tester -c "export LC_ALL=C.UTF-8; $1"; }

echo "== installing $(basename "$package")"
case $package in
    *.deb)
        apt-get install -y "$package" > /dev/null
        program=/usr/bin/goldsmith
        ;;
    *.run)
        cp "$package" /tmp/goldsmith.run
        chmod 755 /tmp/goldsmith.run
        as_tester "sh /tmp/goldsmith.run"
        program=$home/.local/bin/goldsmith
        ;;
    *)
        echo "Neither .deb nor .run: $package" >&2
        exit 2
        ;;
esac
if command -v xdg-mime > /dev/null; then
    test "$(as_tester "xdg-mime query default application/x-goldsmith")" = goldsmith.desktop
fi

echo "== self-test"
as_tester "QT_QPA_PLATFORM=offscreen $program --selftest" > "$pictures/selftest.json" || {
    cat "$pictures/selftest.json"
    exit 1
}
as_tester "$program sample 'tried é界.goldsmith'"

cat > /tmp/look.sh <<'LOOK'
# Opens the sample by its file and lets it stand; the window has to be there until it is told to end.
set -eu
program=$1
cd "$HOME"
mkdir -p pictures
stands() {
    ended=0
    timeout 25 "$program" "tried é界.goldsmith" > "pictures/$1.log" 2>&1 || ended=$?
    cat "pictures/$1.log"
    test $ended = 124
}
echo "== X11"
export DISPLAY=:99
Xvfb :99 -screen 0 1366x768x24 > Xvfb.log 2>&1 &
screen=$!
sleep 3
export QT_QPA_PLATFORM=xcb
stands x11 &
window=$!
seen=
for _ in $(seq 22); do
    sleep 1
    if xwininfo -root -tree | grep -q Goldsmith; then seen=yes; fi
done
wait $window
test -n "$seen"
kill $screen
if ! command -v weston > /dev/null; then
    echo "== Wayland: skipped, this system has no weston"
    exit 0
fi
echo "== Wayland"
unset DISPLAY
XDG_RUNTIME_DIR=$(mktemp -d)
chmod 700 "$XDG_RUNTIME_DIR"
export XDG_RUNTIME_DIR WAYLAND_DISPLAY=tried QT_QPA_PLATFORM=wayland
weston --backend=headless-backend.so --socket=tried --idle-time=0 > weston.log 2>&1 &
screen=$!
sleep 3
test -S "$XDG_RUNTIME_DIR/tried"
stands wayland
kill $screen
LOOK
chmod 755 /tmp/look.sh
ended=0
as_tester "sh /tmp/look.sh $program" || ended=$?
cp -R "$home/pictures/." "$pictures"
test $ended = 0

echo "== removing"
kept() { as_tester "sha256sum tried*.goldsmith; find .config .local/share/goldsmith -type f 2> /dev/null | sort | xargs -r -d '\n' sha256sum"; }
kept > /tmp/before.txt
case $package in
    *.deb) apt-get purge -y goldsmith > /dev/null ;;
    *.run) as_tester "sh .local/lib/goldsmith/uninstall.sh" ;;
esac
test ! -e "$program"
test ! -e /opt/goldsmith
test ! -e "$home/.local/lib/goldsmith"
kept > /tmp/after.txt
cmp /tmp/before.txt /tmp/after.txt
grep -q "tried" /tmp/after.txt
echo "== it came, opened under $(cd "$pictures" && echo */) and went; the project is as it was"
