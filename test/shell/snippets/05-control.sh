### if and elif
x=5; if [ $x -gt 10 ]; then echo big; elif [ $x -gt 3 ]; then echo mid; else echo small; fi
### if takes any command
if echo a | grep -q a; then echo yes; fi; if ! false; then echo not; fi
### for over words
for i in a b "c d"; do echo "$i"; done
### for over arguments
set -- x y; for i; do echo $i; done
### for over lines of a command
for i in $(printf '3\n1\n2\n' | sort); do printf '%s ' $i; done; echo
### while and break
i=0; while true; do ((i++)); [ $i -eq 3 ] && continue; [ $i -gt 5 ] && break; echo $i; done
### until
i=3; until [ $i -eq 0 ]; do echo $i; i=$((i-1)); done
### break out of two
for i in 1 2 3; do for j in a b c; do [ $j = b ] && continue 2; [ $i = 3 ] && break 2; echo $i$j; done; done; echo done
### while read lines
printf 'a b\n  c d  \ne\n' | while IFS= read -r line; do echo "[$line]"; done
### while read fields
printf 'root:x:0\nann:x:1000\n' | while IFS=: read -r name _ uid; do echo "$uid $name"; done
### the last line without an end
printf 'a\nb' | while read -r l || [ -n "$l" ]; do echo "<$l>"; done
### a loop fed by a file
printf '1\n2\n' > f; n=0; while read x; do n=$((n+x)); done < f; echo $n
### a loop fed by a substitution
n=0; while read x; do n=$((n+x)); done < <(seq 1 4); echo $n
### a pipe's loop is a subshell
n=0; seq 1 3 | while read x; do n=$x; done; echo $n
### case
for x in apple banana 42 '' a.txt; do case $x in a*.txt) echo text;; a*|b*) echo fruit $x;; [0-9]*) echo number;; '') echo empty;; *) echo other;; esac; done
### case falls through
case a in a) echo one;& b) echo two;; c) echo three;; esac; case ab in a*) echo x;;& *b) echo y;; esac
### case with quotes and blanks
x='a b'; case "$x" in 'a b') echo quoted;; esac; case $x in (a\ b) echo escaped;; esac
### and or lists
true && echo a || echo b; false && echo c || echo d; false || true && echo e
### status of lists
false; echo $?; ! true; echo $?; true | false; echo $?; { false; }; echo $?
### groups
{ echo a; echo b; } | wc -l; x=$( { echo c; echo d; } | tr '\n' , ); echo $x
### a loop's output redirected
for i in 1 2 3; do echo $i; done > out; cat out; while read a; do echo "got $a"; done < out
### loops in pipes
for i in 3 1 2; do echo $i; done | sort | while read i; do echo "-$i"; done
### select without input ends
select x in a b; do echo $x; done < /dev/null; echo $?
### return codes of tests in a chain
[ 1 -eq 1 ] && [ 2 -eq 3 ] || echo no; [[ a < b && b < c ]] && echo sorted
### the colon and true
: ignored args; echo $?; while :; do break; done; echo ok
### seq and brace loops
for i in {1..5}; do printf $i; done; for i in $(seq 5 -2 1); do printf $i; done; echo
### break status
for i in 1; do false; break; done; echo $?
### nested case in a loop
for f in a.sh b.py c; do case "${f##*.}" in sh) k=shell;; py) k=python;; *) k=none;; esac; echo "$f:$k"; done
### a loop variable stays
for i in a b; do :; done; echo $i
