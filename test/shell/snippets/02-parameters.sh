### defaults
unset a; b=; echo "${a:-1}" "${a-2}" "${b:-3}" "[${b-4}]"
### assigning defaults
: "${a:=first}"; : "${a:=second}"; echo $a
### alternatives
a=x; b=; echo "[${a:+set}][${b:+set}][${b+set}][${c+set}]"
### an error for a missing parameter
echo before; (echo "${missing:?is needed}"; echo not here); echo $?
### length
x=hello; echo ${#x} ${#y}; set -- a b c; echo ${#} ${#1} ${#@}
### length counts characters
x='añ漢🙂'; echo ${#x}
### substrings
x=0123456789; echo ${x:3} ${x:3:4} ${x: -3} ${x: -5:2} ${x:2:-2} "[${x:20}]"
### substrings of arguments
set -- a b c d e; echo "${@:2}" "|" "${@:2:2}" "|" "${*: -2}"
### prefix and suffix removal
x=/usr/local/lib/file.tar.gz; echo ${x##*/} ${x#*/} ${x%/*} ${x%.*} ${x%%.*}
### removal with a class
x=aaa123; echo ${x##*[a-z]} ${x%%[0-9]*} "${x#[!a]}"
### replacement
x='a-b-c'; echo ${x/-/+} ${x//-/+} ${x//-} ${x/#a/X} ${x/%c/Y}
### replacement with a pattern and a slash
x=/a/b/c; echo ${x//\//.} ${x//[ab]/_} "${x/b*/Z}"
### case changes
x='hello World'; echo ${x^} ${x^^} ${x,,} ${x^^[aeiou]}; y=ABC; echo ${y,}
### indirection
name=target; target=value; echo ${!name}; target_a=1; target_b=2; echo ${!target_*}
### quoting transformations
x="it's"; echo ${x@Q}; y=$'a\nb'; echo "${y@Q}"; z=abc; echo ${z@U} ${z@u}
### an array's length and keys
a=(x y z); echo ${#a[@]} ${!a[@]} ${a[-1]} ${#a[1]}
### expansion in here documents
x=v; cat <<E
$x ${x:-d} $(echo sub) $((1+2)) \$x `echo back`
E
### nested expansions
a=1; echo ${b:-${c:-${a}}} ${a:+"${a}${a}"}
### default with spaces in a for
for i in ${list:-one two three}; do echo $i; done
### unset inside a function
x=1; f() { unset x; }; f; echo "[${x-gone}]"
### appending
x=a; x+=b; x+="c d"; echo "$x"; n=1; n+=1; echo $n; declare -i m=1; m+=1; echo $m
### random is a number
[[ $RANDOM =~ ^[0-9]+$ ]] && echo number; [ $SECONDS -ge 0 ] && echo seconds
### line numbers
echo $LINENO
echo $LINENO
### strip an extension in a loop
for f in a.txt b.tar.gz c; do echo "${f%.*} ${f##*.}"; done
### trim blanks
x='   padded  '; x="${x#"${x%%[![:space:]]*}"}"; x="${x%"${x##*[![:space:]]}"}"; echo "[$x]"
### split a key and a value
line='key=a=b'; echo "${line%%=*}" "${line#*=}"
### join with a separator
join_by() { local IFS="$1"; shift; echo "$*"; }; join_by , a b c
### pattern from a variable
p='*.txt'; x=a.txt; [[ $x == $p ]] && echo glob; [[ $x == "$p" ]] || echo literal; echo "${x%$p}" "${x%"$p"}"
