#!/bin/sh
# Installs the gsv command from a gateway, for the current user and without root. With --device it also connects this
# machine to that gateway as a device. Safe to run again: it replaces what it installed before.
#
#   curl -fsSL @GSV_ORIGIN@/downloads/cli/install.sh | sh
#   curl -fsSL @GSV_ORIGIN@/downloads/cli/install.sh | GSV_DEVICE_TOKEN=... sh -s -- --device laptop --user alice
#
# INSTALL_DIR is where the command goes (default: ~/.local/bin), GSV_LIB_DIR where its program goes (default:
# ~/.local/share/gsv). The token is passed in the environment, which other users of the machine cannot see, and never as
# an argument, which they can.

set -eu

ORIGIN='@GSV_ORIGIN@'
NODE_MAJOR=20
# The library for terminals is native code; without it everything else works.
TERMINAL='@lydell/node-pty@1.1.0'
MARK='# Written by the installer of GSV.'

# Everything is in functions that the last line calls, so that nothing of a truncated download runs.
main() {
  device='' user='' workspace=''
  while [ $# -gt 0 ]; do
    case $1 in
      --device) device=$(value "$@") ;;
      --user) user=$(value "$@") ;;
      --workspace) workspace=$(value "$@") ;;
      *) fail "Unknown option: $1. Use --device ID, --user NAME or --workspace DIR" ;;
    esac
    shift 2
  done
  if [ -n "$device" ] && [ -z "$user" ]; then fail "The owner of the device is not known: add --user NAME"; fi
  if [ -n "$device" ] && [ -z "${GSV_DEVICE_TOKEN:-}" ]; then
    fail "The device needs a token: gsv token create --device $device prints the command to run here"
  fi
  [ -n "${HOME:-}" ] || fail "HOME is not set: set it to your home directory"
  bin=${INSTALL_DIR:-${GSV_INSTALL_DIR:-$HOME/.local/bin}}
  lib=${GSV_LIB_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/gsv}
  node=$(find_node)
  if [ -e "$bin/gsv" ] && ! grep -qF "$MARK" "$bin/gsv"; then
    fail "$bin/gsv exists and is another program. Choose another directory: INSTALL_DIR=DIR"
  fi
  mkdir -p "$bin" "$lib"
  fetched=$(mktemp -d "$lib/.fetched.XXXXXX")
  trap 'rm -rf "$fetched"' EXIT
  trap 'exit 130' HUP INT TERM
  install_program
  install_command
  add_terminal
  say "Installed gsv $("$bin/gsv" version) as $bin/gsv"
  case ":${PATH:-}:" in
    *":$bin:"*) gsv=gsv ;;
    *)
      gsv=$bin/gsv
      say "$bin is not on your PATH. Add this line to ~/.profile (or your shell's start-up file) and log in again:"
      say "  export PATH=\"$bin:\$PATH\""
      ;;
  esac
  if [ -n "$device" ]; then
    set -- --url "$ORIGIN" --user "$user" device install --id "$device"
    if [ -n "$workspace" ]; then set -- "$@" --workspace "$workspace"; fi
    "$bin/gsv" "$@"
  else
    say "Next: $gsv --url $ORIGIN auth login"
  fi
}

value() {
  if [ $# -lt 2 ] || [ -z "$2" ]; then fail "$1 needs a value"; fi
  printf '%s' "$2"
}

find_node() {
  found=$(command -v node) || fail "Node.js $NODE_MAJOR or newer is required but not installed: install it (https://nodejs.org, or your system's packages), then run this again"
  major=$("$found" -p 'process.versions.node.split(".")[0]')
  [ "$major" -ge "$NODE_MAJOR" ] || fail "Node.js $NODE_MAJOR or newer is required, but $found is $("$found" --version): install a newer one, then run this again"
  "$found" -p process.execPath
}

# The checksum detects downloads that were truncated or altered on the way, mostly by caches and proxies; only https can
# tell whether the gateway is the right one. Node computes it, because every system has another command for that.
install_program() {
  fetch gsv.mjs
  fetch gsv.mjs.sha256
  "$node" -e '
    const { readFileSync } = require("node:fs");
    const [file, sum] = process.argv.slice(1).map((name) => readFileSync(name));
    const wanted = sum.toString().trim().split(/\s/)[0];
    process.exit(require("node:crypto").createHash("sha256").update(file).digest("hex") === wanted ? 0 : 1);
  ' "$fetched/gsv.mjs" "$fetched/gsv.mjs.sha256" || fail "The download from $ORIGIN does not match its checksum, so nothing was installed. Run this again; if it keeps failing, a proxy or cache may be altering downloads"
  chmod 644 "$fetched/gsv.mjs"
  mv -f "$fetched/gsv.mjs" "$lib/gsv.mjs"
}

fetch() {
  from=$ORIGIN/downloads/cli/latest/$1
  if command -v curl >/dev/null 2>&1; then
    curl -fsS -o "$fetched/$1" "$from" || fail "Could not download $from"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$fetched/$1" "$from" || fail "Could not download $from"
  else
    fail "curl or wget is required: install one of them, then run this again"
  fi
}

# Uses the Node that was found now, and if that is gone, the one on the PATH.
install_command() {
  cat >"$fetched/gsv" <<END
#!/bin/sh
$MARK
node=$(quoted "$node")
[ -x "\$node" ] || node=node
GSV_COMMAND=$(quoted "$bin/gsv") exec "\$node" $(quoted "$lib/gsv.mjs") "\$@"
END
  chmod 755 "$fetched/gsv"
  mv -f "$fetched/gsv" "$bin/gsv"
}

add_terminal() {
  if command -v npm >/dev/null 2>&1 && npm install --prefix "$lib" --no-save --no-package-lock --ignore-scripts --no-audit --no-fund \
    --silent --fetch-retries=0 --fetch-timeout=20000 "$TERMINAL" >/dev/null 2>&1 </dev/null; then
    return
  fi
  say "The terminal library ($TERMINAL) could not be installed with npm, so full-screen programs will not work on this device"
}

quoted() {
  printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

say() {
  printf '%s\n' "$1"
}

fail() {
  printf 'gsv: %s\n' "$1" >&2
  exit 1
}

main "$@"
