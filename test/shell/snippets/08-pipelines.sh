### exit codes
true; echo $?; false; echo $?; (exit 42); echo $?; sh -c 'exit 300'; echo $?
### exit with a code
echo before; exit 9; echo after
### exit without a code
false; exit
### the last command's code
echo a; false
### a command not found
nosuchcommand; echo $?
### a file that may not be run
echo 'echo hi' > s; ./s; echo $?
### a directory as a command
mkdir d; ./d; echo $?
### pipestatus
true | false | (exit 3); echo "${PIPESTATUS[@]}"
### a pipe's code is the last
false | true; echo $?; true | false; echo $?
### pipefail
set -o pipefail; false | true; echo $?; (exit 3) | (exit 4) | true; echo $?
### negated pipes
! false | true; echo $?; ! true; echo $?
### early exit of a reader
seq 1 100000 | head -n 3; yes | head -n 2
### subshells keep changes in
x=1; (x=2; cd /; echo $x); echo $x; [ "$PWD" != / ] && echo same
### nested subshells
(echo a; (echo b; (exit 5)); echo $?); echo $?
### background and wait
sleep 0.05 & wait; echo $?; (exit 3) & wait $!; echo $?
### background writes a file
(echo done > f) & wait; cat f
### several jobs
for i in 1 2 3; do (echo $i > f$i) & done; wait; cat f1 f2 f3
### kill zero asks
kill -0 $$; echo $?
### command substitution with a pipe
x=$(printf 'b\na\n' | sort | head -1); echo $x
### long pipes
seq 1 20 | grep 1 | sed 's/1/x/' | tr x y | sort -r | head -4 | tail -2 | cat -n
### a pipe over lines
echo a |
  tr a b |
  cat
### and or over lines
true &&
  echo yes ||
  echo no
### errors do not enter the pipe
ls nothing | wc -l
### xargs makes arguments
printf 'a\nb\nc\n' | xargs; printf 'a b c d' | xargs -n 2 echo; echo 'x y' | xargs -I{} echo '[{}]'
### xargs with nulls
printf 'a b\0c\0' | xargs -0 -n 1 echo; printf '' | xargs -r echo never
### xargs exit
echo a | xargs false; echo $?
### time of a pipe says nothing on stdout
time true 2>/dev/null; echo $?
### large output through a pipe
seq 1 40000 | wc -c; seq 1 40000 | tail -n 1
### two hundred kilobytes of output
seq 1 38000
### a long line
printf 'x%.0s' {1..5000} | wc -c; head -c 100000 /dev/zero | tr '\0' a | wc -c
### bytes through a pipe
printf '\x00\xff\x80\x01' | od -An -tx1; printf '\xff\xfe' | wc -c; printf 'a\0b' | tr '\0' '\n'
### bytes in a file
printf '\x89PNG\r\n\x1a\n\x00' > f; wc -c < f; cp f g; cmp f g && echo equal; base64 f; cat f g | md5sum
### sleep is short
sleep 0.01 && echo slept
### timeout ends it
timeout 0.1 sleep 5; echo $?; timeout 5 echo in time
### an inner shell in a pipe
bash -c 'echo b; echo a' | sort; x=$(bash -c 'echo one; echo two'); echo "[$x]"; sh -c 'echo x; echo y' > f; cat f
### a script file in a pipe
printf 'echo b\nfor i in 1 2; do echo $i; done\necho a\n' > s.sh; bash s.sh | sort; x=$(bash ./s.sh | wc -l); echo $x
### eval in a pipe
eval 'echo b; echo a' | sort; x=$(eval 'echo 1; echo 2'); echo $x
### a sourced file in a pipe
printf 'echo b\necho a\n' > lib.sh; . ./lib.sh | sort; x=$(source lib.sh); echo $x
### find and xargs run shells
touch a b; find . -type f -exec sh -c 'echo "$1"; echo .' _ {} \; | sort | uniq -c | awk '{print $1,$2}'; ls | xargs -n 1 sh -c 'echo "<$0>"; echo' | grep -c '<'
### timeout and env run shells
timeout 5 bash -c 'echo a; echo b' | wc -l; env X=1 bash -c 'echo $X; echo 2' | paste -s -
### inner errors are caught
x=$(bash -c 'echo a >&2; echo b >&2' 2>&1); echo "[$x]"; bash -c 'ls nothing; echo c' 2>/dev/null
