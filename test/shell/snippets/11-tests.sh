### strings
[ a = a ] && echo eq; [ a != b ] && echo ne; [ -z "" ] && echo z; [ -n x ] && echo n; [ x ] && echo x; [ "" ] || echo empty
### numbers
for op in eq ne lt le gt ge; do [ 2 -$op 3 ]; echo $op $?; done
### files
touch f; mkdir d; echo x > s; for t in e f d s r w; do for n in f d s none; do [ -$t $n ] && printf "$t$n "; done; done; echo
### and or not
[ a = a -a b = b ] && echo and; [ a = b -o b = b ] && echo or; [ ! a = b ] && echo not; [ \( a = a \) ] && echo brackets
### test is a command
test -d . && echo dir; test 3 -gt 2; echo $?; test; echo $?
### a missing operand
[ 1 -eq ]; [ $? -ge 1 ] && echo failed; [ a -eq 1 ]; echo $?
### double brackets
x='a b'; [[ $x == 'a b' ]] && echo eq; [[ $x == a* ]] && echo glob; [[ -z $nothing ]] && echo z; [[ a < b ]] && echo lt; [[ ! a == b ]] && echo not
### groups in double brackets
[[ (a == a || b == c) && 1 -lt 2 ]] && echo yes; [[ 010 -eq 8 ]] && echo octal; [[ 3 -gt 2+0 ]] && echo arith
### regular expressions
[[ foo123 =~ ^([a-z]+)([0-9]+)$ ]] && echo "${BASH_REMATCH[0]} ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}"; [[ abc =~ b ]] && echo has; [[ abc =~ ^b ]] || echo no
### a regular expression in a variable
re='^[0-9]{4}-[0-9]{2}$'; [[ 2024-05 =~ $re ]] && echo date; [[ 2024-5 =~ $re ]] || echo not; [[ 'a.c' =~ "a.c" ]] && echo quoted; [[ abc =~ "a.c" ]] || echo literal
### posix classes in expressions
[[ 'Hi there' =~ ^[[:upper:]][[:alpha:]]*[[:space:]] ]] && echo yes; [[ ab =~ (x)?(b) ]]; echo "[${BASH_REMATCH[1]}][${BASH_REMATCH[2]}]"
### newer and same
touch -d '2001-01-01' old; touch -d '2002-01-01' new; [ new -nt old ] && echo newer; [ old -ot new ] && echo older; [ old -ef ./old ] && echo same
### set variables
x=; [[ -v x ]] && echo set; [[ -v y ]] || echo unset; [ -z ${x+1} ] || echo exists
### is a number
for x in 12 -3 1.5 abc ''; do if [[ $x =~ ^-?[0-9]+$ ]]; then echo "$x int"; else echo "$x no"; fi; done
### executable
echo '#!/bin/sh' > s; [ -x s ] || echo no; chmod +x s; [ -x s ] && echo yes
### mode bits
touch f; chmod 640 f; stat -c %a f; chmod u+x,go= f; stat -c '%a %A' f; chmod 755 f; stat -c %A f; mkdir d; chmod 1777 d; stat -c '%a %A' d
### modes by letters
touch f; chmod 600 f; chmod a+r f; stat -c %a f; chmod g=u f; stat -c %a f; chmod o-r,u+x f; stat -c %a f; chmod +x f; stat -c %a f; chmod -x f; stat -c %a f
### quoting saves empty operands
x=; [ "$x" = "" ] && echo ok; [ $x = "" ] 2>/dev/null || echo broken
### string order
[[ apple < banana ]] && echo a; [[ Z < a ]] && echo upper first; [ b \> a ] && echo b
