#!/bin/sh
# Installs the gsv command from a gateway, for the user who runs this and without root, and with --device makes this
# machine a target of that gateway. Safe to run again: it replaces what it installed before.
#
#   curl -fsSL @GSV_ORIGIN@/downloads/cli/install.sh | sh
#   curl -fsSL @GSV_ORIGIN@/downloads/cli/install.sh | GSV_DEVICE_TOKEN=... sh -s -- --device laptop --user alice
#
# INSTALL_DIR says where the command goes (else ~/.local/bin), GSV_LIB_DIR where its program does (else
# ~/.local/share/gsv). The token comes by the environment, which other users of the machine cannot see, and never by an
# argument, which they can.

set -eu

ORIGIN='@GSV_ORIGIN@'
NODE_MAJOR=20
# The library for terminals is native code; without it everything else works.
TERMINAL='@lydell/node-pty@1.1.0'
MARK='# Written by the installer of GSV.'

# All in functions, called on the last line: of a download that broke off, nothing is run.
main() {
  device='' user='' workspace=''
  while [ $# -gt 0 ]; do
    case $1 in
      --device) device=$(value "$@") ;;
      --user) user=$(value "$@") ;;
      --workspace) workspace=$(value "$@") ;;
      *) fail "Unknown option: $1. There are --device ID, --user NAME and --workspace DIR" ;;
    esac
    shift 2
  done
  if [ -n "$device" ] && [ -z "$user" ]; then fail "Whose device is it? Add --user NAME"; fi
  if [ -n "$device" ] && [ -z "${GSV_DEVICE_TOKEN:-}" ]; then
    fail "A device needs a token: gsv token create --device $device prints the whole line to run here"
  fi
  [ -n "${HOME:-}" ] || fail "HOME is not set, so it is not known where to install"
  bin=${INSTALL_DIR:-${GSV_INSTALL_DIR:-$HOME/.local/bin}}
  lib=${GSV_LIB_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/gsv}
  node=$(find_node)
  if [ -e "$bin/gsv" ] && ! grep -qF "$MARK" "$bin/gsv"; then
    fail "$bin/gsv is there and is something else. Choose another place: INSTALL_DIR=DIR"
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
      say "$bin is not on your PATH. Add this line to ~/.profile (or your shell's own file) and log in again:"
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
  found=$(command -v node) || fail "Node.js $NODE_MAJOR or newer is needed and there is none: install it (https://nodejs.org, or your system's packages), then run this again"
  major=$("$found" -p 'process.versions.node.split(".")[0]')
  [ "$major" -ge "$NODE_MAJOR" ] || fail "Node.js $NODE_MAJOR or newer is needed and $found is $("$found" --version): install a newer one, then run this again"
  "$found" -p process.execPath
}

# The checksum is for downloads that were cut or altered on the way, by caches and proxies mostly; whether the gateway is
# the right one, only https can tell. Node counts it, because every system has another command for that.
install_program() {
  fetch gsv.mjs
  fetch gsv.mjs.sha256
  "$node" -e '
    const { readFileSync } = require("node:fs");
    const [file, sum] = process.argv.slice(1).map((name) => readFileSync(name));
    const wanted = sum.toString().trim().split(/\s/)[0];
    process.exit(require("node:crypto").createHash("sha256").update(file).digest("hex") === wanted ? 0 : 1);
  ' "$fetched/gsv.mjs" "$fetched/gsv.mjs.sha256" || fail "What came from $ORIGIN does not fit its checksum, so nothing was installed. Run this again; if it stays so, something on the way alters downloads"
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
    fail "curl or wget is needed to download: install one of them, then run this again"
  fi
}

# The Node that was found now, and whichever is on the PATH once that one has been replaced.
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
  say "Without the library for terminals ($TERMINAL, by npm): commands here run without one, so full-screen programs do not work"
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
