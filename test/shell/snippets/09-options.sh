### errexit stops
set -e; echo a; false; echo b
### errexit spares conditions
set -e; if false; then :; fi; false || echo or; ! true; while false; do :; done; echo end
### errexit in a function
set -e; f() { echo in; false; echo not; }; f; echo never
### errexit off in a condition
set -e; f() { false; echo still; }; if f; then echo yes; fi; f || echo no
### errexit and a substitution
set -e; x=$(false); echo never
### errexit and local
set -e; f() { local x=$(false); echo reached; }; f
### errexit in a subshell
set -e; (false; echo never) || echo caught; echo on; (exit 3); echo never
### errexit and the and list
set -e; false && echo a; echo passed; true && false; echo never
### errexit and pipes
set -e; false | true; echo passed; true | false; echo never
### errexit with pipefail
set -eo pipefail; echo a; false | true; echo never
### errexit and arithmetic
set -e; ((1)); i=0; ((i++)) || true; echo $i; ((0)); echo never
### nounset
set -u; echo a; echo "$missing"; echo never
### nounset with defaults
set -u; echo "${missing:-ok}" "${missing+x}"; f() { echo "${1:-none}"; }; f
### nounset and arguments
set -u; echo $#; echo "$@"; echo "$1"; echo never
### strict mode
set -euo pipefail; x=$(printf 'a\nb\n' | grep b); echo $x; printf 'a\n' | grep z; echo never
### set plus e
set -e; set +e; false; echo on $?
### xtrace goes to stderr
set -x; echo a; x=1; set +x; echo b
### noglob
touch a b; set -f; echo *; set +f; echo *
### the flags
set -eu; case $- in *e*) echo e;; esac; case $- in *u*) echo u;; esac; [[ -o errexit ]] && echo on
### noexec by bash -n
printf 'if true; then echo a\n' > bad.sh; bash -n bad.sh; [ $? -ne 0 ] && echo broken; echo 'echo fine' > ok.sh; bash -n ok.sh; echo $?
### bash -c with arguments
bash -c 'echo "$0 $1 $#"' zero one two; bash -ec 'false; echo never'; echo $?
### trap on exit
trap 'echo bye' EXIT; echo hi
### trap on exit keeps the code
trap 'echo code $?' EXIT; exit 3
### trap on exit after errexit
set -e; trap 'echo cleanup' EXIT; false; echo never
### trap in a subshell
(trap 'echo sub' EXIT; echo in); echo out
### trap on err
trap 'echo failed' ERR; false; echo go on; true
### trap removed
trap 'echo no' EXIT; trap - EXIT; echo end
### cleanup of a temporary file
t=$(mktemp); trap 'rm -f "$t"' EXIT; echo data > "$t"; cat "$t"; [ -f "$t" ] && echo there
### shopt
shopt -s nullglob; echo *.none; shopt -u nullglob; echo *.none; shopt -q nullglob; echo $?
### lastpipe
shopt -s lastpipe; echo v | read x; echo "[$x]"
### a syntax error
echo before; eval 'if then'; echo $?
### syntax error in the script
echo one
if true; then echo two
### an unclosed quote
echo "abc
### strict mode with defaults
set -euo pipefail; f() { local dir="${1:-.}" n="${2:-}"; [ -z "$n" ] && echo none; echo "$dir"; }; f; f a b || true; echo "${HOMELESS:-}" "${X:=v}" "$X"; [[ -z "${Y:-}" ]] && echo empty
### nounset in a group
set -u; { echo a; echo "$missing"; echo never; }; echo never
### the code is kept for later
set -e; code=0; false || code=$?; echo $code; f() { return 4; }; f || code=$?; echo $code; x=1; echo $?
### assignments succeed
false; x=1; echo $?; false; x=$?; echo $x $?; false; y=$(false); echo $?; false; z=$(true); echo $?; [ 1 = 2 ] || n=5; echo $? $n
### a function fails in an or list
set -e; f() { false; echo on; return 3; }; f || echo "code $?"; g() { f || return 5; }; g || echo "outer $?"; echo end
### a trap sees functions and variables
cleanup() { echo "cleaning $dir with $?"; }; trap cleanup EXIT; dir=work; mkdir $dir; cd $dir; false; exit 6
### a trap that exits
trap 'exit 9' EXIT; echo a; exit 2
### traps of other signals
trap 'echo int' INT TERM; trap '' HUP; trap 'echo done' EXIT INT; echo body
### a trap in a script of its own
printf 'trap "echo inner" EXIT\necho in\n' > s.sh; bash s.sh; echo out
### errexit in a loop
set -e; for i in 1 2 3; do [ $i = 1 ] && echo one; done || true; for i in 1 2 3; do [ $i = 3 ] && echo three; done; echo end; for i in 1 2; do false || echo "code $?"; done
### errexit spares a failing and list in a loop
set -e; for i in 3 2 1; do [ $i = 1 ] && echo one; done; echo end; i=0; while [ $i -lt 3 ]; do i=$((i+1)); [ $i = 3 ] && echo last; done; echo "after $?"
