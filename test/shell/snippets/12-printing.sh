### printf of strings
printf '%s\n' a b c; printf '[%5s][%-5s][%.2s]\n' ab ab abcdef; printf '%s-%s\n' 1 2 3
### printf of numbers
printf '%d %5d %05d %-5d| %+d\n' 1 2 3 4 5; printf '%x %X %o %#x\n' 255 255 8 255; printf '%d\n' 0x1f 010 "'A"
### printf of fractions
printf '%.2f %8.3f %e %g\n' 3.14159 2.5 12345.678 0.0001; printf '%.0f %.1f\n' 2.5 0.05
### printf escapes
printf 'a\tb\\n\x41\101\n'; printf '%b|' 'x\ty' 'a\\b'; printf '%%\n'; printf '%c%c\n' abc def
### printf quoting
printf '%q ' 'a b' "it's" '$x' plain ''; echo
### printf to a variable
printf -v x '%03d' 7; echo $x; printf -v a[1] '%s' y; echo ${a[1]}
### printf with stars
printf '%*d|%-*s|%.*f\n' 5 42 6 ab 2 3.14159
### printf with too few arguments
printf '%s %d\n'; printf '%s and %s\n' one
### printf of a bad number
printf '%d\n' abc; echo $?
### printf date
printf '%(%Y-%m-%d)T\n' 0
### echo flags
echo -n a; echo -e 'b\tc'; echo -ne 'd\n'; echo -- -x; echo -e '\x41\0101\e[0m' | od -c | head -2
### read fields
echo 'one two three four' | { read a b c; echo "$a|$b|$c"; }
### read raw
printf 'a\\tb \\\n' | { read -r x; echo "$x"; }; printf 'a\\tb\n' | { read x; echo "$x"; }
### read with a delimiter
printf 'a,b,c' | { while read -d, x; do echo $x; done; echo "last $x"; }
### read characters
echo hello | { read -n 2 x; echo $x; read -N 2 y; echo $y; }
### read into an array and reply
echo 'x y' | { read -a a; echo ${a[1]}; }; echo line | { read; echo $REPLY; }
### read at the end
read x < /dev/null; echo $? "[$x]"; printf 'part' | { read x; echo "$? $x"; }
### read with its own separator
IFS=, read a b c <<< '1,2,3,4'; echo "$a|$b|$c"; IFS=: read -r x y <<< 'k: v'; echo "[$x][$y]"
### nul separated reading
printf 'a b\0c\nd\0' | while IFS= read -r -d '' x; do printf '[%s]' "$x"; done; echo
### cat shows
printf 'a\tb\n\nc\n' > f; cat -A f; cat -n f; cat -b f; cat -s f | wc -l
### unicode through tools
echo 'héllo wörld 漢字 🙂' | tr a-z A-Z; echo 'héllo' | cut -c1-3 | od -An -c | head -1; echo 'añb' | wc -m; echo 'añb' | wc -c; echo 漢字 | sed 's/漢/X/'; echo 'é' | grep -c '^.$'
### unicode names
echo x > 'naïve 漢.txt'; ls; cat naïve*; for f in *.txt; do echo "${f%.txt}"; done
### carriage returns
printf 'a\r\nb\r\n' > f; while read -r l; do echo "${l%$'\r'}."; done < f; tr -d '\r' < f | od -c | head -1; wc -l < f; grep -c $'\r' f
### sed drops carriage returns
printf 'a\r\nb\r\n' | sed 's/\r$//' | od -An -c
### od and xxd
printf 'AB\n' | od -c; printf 'AB\n' | od -An -tx1; printf '\001\002' | od -b
### columns
printf 'a b\nlonger c\n' | column -t; printf '%-10s|%5s\n' name 1 longname 22
### printf repeats a line
printf '%0.s-' {1..10}; echo; printf '=%.0s' $(seq 5); echo
### rev tac nl fold
echo abc | rev; printf '1\n2\n3\n' | tac; printf 'a\n\nb\n' | nl; echo abcdefgh | fold -w 3
### expand and unexpand
printf 'a\tb\n' | expand -t 4; printf '        x\n' | unexpand | od -c | head -1
