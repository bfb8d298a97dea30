### arguments
f() { echo "$# $1 ${2-none} $*"; }; f a; f 'a b' c
### return values
f() { return 3; }; f; echo $?; g() { false; }; g; echo $?; h() { true; return; }; h; echo $?
### local variables
x=out; f() { local x=in y=1; echo $x; }; f; echo $x "[$y]"
### dynamic scope
f() { local x=f; g; }; g() { echo $x; x=changed; }; x=top; f; echo $x
### recursion
fact() { if [ $1 -le 1 ]; then echo 1; else echo $(( $1 * $(fact $(( $1 - 1 ))) )); fi; }; fact 10
### the function keyword
function f { echo f; }; function g() { echo g; }; f; g
### output captured
f() { echo out; echo err >&2; }; x=$(f 2>/dev/null); echo "[$x]"
### redirected functions
f() { echo in "$(cat)"; }; echo data | f; f <<< here; f > out <<< file; cat out
### a function with its own redirection
f() { echo hidden; } > log; f; cat log
### shift
f() { while [ $# -gt 0 ]; do echo $1; shift; done; }; f a b c; set -- 1 2 3 4; shift 2; echo $*; shift 5; echo $? $#
### getopts
f() { local OPTIND o; while getopts 'ab:c' o; do case $o in a) echo a;; b) echo "b=$OPTARG";; c) echo c;; *) echo bad;; esac; done; shift $((OPTIND-1)); echo "rest $*"; }; f -a -b val -c x y; f -abval z
### getopts errors silently
while getopts ':x:' o -q -x; do case $o in \?) echo "unknown $OPTARG";; :) echo "needs $OPTARG";; esac; done
### functions see and set globals
f() { g=set; }; f; echo $g; h() { declare l=1; declare -g m=2; }; h; echo "[$l][$m]"
### unset a function
f() { echo f; }; unset -f f; f 2>/dev/null; echo $?
### a function shadows a command
date() { echo mine; }; date; command echo real; unset -f date
### type and command -v
f() { :; }; type -t f echo if ls; command -v f; command -v nothing; echo $?
### a subshell function
f() ( x=inner; cd /; exit 4 ); x=outer; f; echo $? $x
### exported functions
f() { echo exported; }; export -f f; bash -c f
### function names with dashes
my-func() { echo "$FUNCNAME"; }; my-func
### local without a value
x=1; f() { local x; echo "[$x]"; x=2; }; f; echo $x
### readonly
readonly r=1; (r=2) 2>/dev/null; echo $? $r
### declare -f
f() { echo a; }; declare -F f; declare -f f > /dev/null; echo $?
### arguments named by position in a loop
f() { for i in "$@"; do printf '[%s]' "$i"; done; echo; }; f "" "a b" c
### local hides the status
f() { local x=$(false); echo $?; local y; y=$(false); echo $?; }; f
### callbacks
apply() { local fn=$1; shift; for x in "$@"; do "$fn" "$x"; done; }; double() { echo $(($1*2)); }; apply double 1 2 3
### return from a nested loop
find_it() { for i in 1 2 3; do for j in 1 2 3; do if ((i*j==6)); then echo $i $j; return 0; fi; done; done; return 1; }; find_it; echo $?
### source a file
printf 'x=sourced\ng() { echo "$x $1"; }\n' > lib.sh; . ./lib.sh; g arg; source lib.sh; echo $x
### a script file is run
printf '#!/bin/bash\necho "$0 $1 $#"\nexit 5\n' > run.sh; chmod +x run.sh; ./run.sh a b; echo $?; bash run.sh c; echo $?
### a command is passed on
run() { echo "+ $*"; "$@"; }; run echo a 'b  c'; run printf '<%s>' x 'y z'; echo; run sh -c 'exit 7'; echo $?; f() { echo "f:$1"; }; run f 1
### a command in a variable
cmd='echo a b'; $cmd c; SUDO=; $SUDO echo none; a=(printf '[%s]' 'p q'); "${a[@]}" r; echo; pre='grep -c'; printf 'x\ny\nx\n' | $pre x
### a command after a shift
try() { local n=$1; shift; for ((i=0;i<n;i++)); do "$@" && return 0; done; return 1; }; try 2 false; echo $?; try 2 echo ok; if try 1 test -d .; then echo dir; fi
### functions in sums
count() { printf '%s\n' "$@" | wc -l; }; f() { local n=$(( $(count "$@") * 2 )); echo $n; }; f a b c; echo $(( $(count x) + $(count y z) )); if (( $(count p q) > 1 )); then echo more; fi; i=0; while (( $(count $i) + i < 4 )); do ((i++)); done; echo $i
