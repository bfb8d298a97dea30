### single quotes keep everything
echo 'a $b `c` \d "e"'
### double quotes expand some
b=x; echo "a $b \$b \"q\" \\ \n"
### backslash outside quotes
echo a\ b \$x \"q\" \\
### adjacent quoting makes one word
x='y z'; printf '[%s]' a"$x"'b c'd; echo
### ansi c strings
printf '%s|' $'a\tb' $'\x41\x42' $'it\'s' $'\u00e9' $'\101'; echo
### ansi c newline in a variable
x=$'one\ntwo'; echo "$x"; echo $x
### empty arguments survive quoting
f() { echo $#; }; f "" '' a; x=; f $x; f "$x"
### word splitting of an unquoted variable
x='  a   b  c '; f() { echo $#; }; f $x; f "$x"; echo $x
### a custom field separator
IFS=:; x=a:b::c; for i in $x; do echo "[$i]"; done
### star and at in quotes
set -- a 'b c' d; IFS=-; echo "$*"; echo "$@"; for i in "$@"; do echo "<$i>"; done
### positional parameters beyond nine
set -- 1 2 3 4 5 6 7 8 9 ten; echo $10 ${10}
### tilde is home only at the start
cd; [ ~ = "$HOME" ] && echo same; echo "~" a~ '~'
### nested command substitution
echo "$(echo "a $(echo "b $(echo 'c "d"')")")"
### backquotes
x=`echo hi`; echo "$x `echo \`echo deep\``"
### substitution drops trailing newlines only
x=$(printf 'a\n\nb\n\n\n'); printf '[%s]\n' "$x"
### substitution keeps inner quotes
x="$(printf '%s' "it's \"quoted\"")"; echo "$x"
### a comment ends a line
echo a # b
echo a#b '#c'
### line continuation
echo one \
  two
x=a\
b; echo $x
### a dollar alone
echo $ "$" a$ "100%"
### exit status of a substitution
x=$(false); echo $?; x=$(exit 7); echo $?; echo $(exit 3) $?
### unset and empty variables
echo "[$nothing]"; nothing=; echo "[$nothing]"; unset nothing; echo "[${nothing-unset}]"
### globs are not expanded in quotes
touch a.txt b.txt; echo *.txt "*.txt" '*.txt' \*.txt
### assignment is not split
x='a  b'; y=$x; echo "$y"; z=*; echo "$z"
### a temporary environment for one command
X=1 sh -c 'echo "[$X]"'; echo "[$X]"
### exported and not exported
a=1; export b=2; bash -c 'echo "[$a][$b]"'
### special parameters
set -- x y; echo $# "$1" $0 | sed 's/ [^ ]*$//'; true; echo $?; [ -n "$$" ] && echo pid
### echo of backslashes
echo 'a\nb'; echo -e 'a\nb\tc'; echo -n x; echo -E 'y\n'
### quotes inside a default
echo "${x:-"a b"}" ${x:-'c  d'} "${x:-a  b}"
### a heredoc in a substitution
x=$(cat <<E
one $((1+1))
E
); echo "[$x]"
### eval joins and parses again
x='echo "$y"'; y='a  b'; eval $x; eval "z=\$y"; echo "$z"
