### operators
echo $((7+3)) $((7-3)) $((7*3)) $((7/3)) $((7%3)) $((2**10)) $((-7/2)) $((-7%3))
### precedence and brackets
echo $((1+2*3)) $(((1+2)*3)) $((2**3**2)) $((10-4-3))
### comparisons and logic
echo $((3>2)) $((3<2)) $((3==3)) $((3!=3)) $((1&&0)) $((1||0)) $((!1)) $((!0))
### bits
echo $((5&3)) $((5|3)) $((5^3)) $((~5)) $((1<<10)) $((1024>>3))
### bases
echo $((0x1f)) $((017)) $((2#1011)) $((16#ff)) $((36#z))
### ternary and comma
x=5; echo $((x>3?10:20)) $((x=2,x+1)) $x
### increments
i=5; echo $((i++)) $i $((++i)) $i $((i--)) $((--i)); ((i+=10)); echo $i
### assignment operators
x=10; ((x*=3)); echo $x; ((x/=4)); echo $x; ((x%=5)); echo $x; ((x<<=3)); echo $x; ((x|=1)); echo $x
### the arithmetic command's status
((0)); echo $?; ((5)); echo $?; ((1>2)) || echo no
### variables without dollar
a=3; b=a; echo $((a+1)) $((b+1)) $((nothing+1))
### let
let x=3+4 y=x*2; echo $x $y; let "z = x - y"; echo $z; let 0; echo $?
### sixty four bits
echo $((9223372036854775807)) $((9223372036854775807+1)) $((1<<62)) $((1<<63))
### large products
echo $((123456789*987654321)) $((99999999999*9)) $((2**62))
### division by zero
echo $((1/0)); echo after $?
### division by zero in a subshell
(echo $((1/0)); echo not here); echo "after $?"
### a bad number
(echo $((08))); echo $?
### arithmetic for
for ((i=0;i<5;i+=2)); do echo $i; done; echo end $i
### two counters
for ((i=0,j=10;i<j;i+=3,j-=3)); do echo "$i $j"; done
### array elements in arithmetic
a=(1 2 3); echo $((a[0]+a[2]*10)); ((a[1]+=5)); echo ${a[1]}; i=2; echo $((a[i]))
### integer variables
declare -i n; n=3+4; echo $n; n="n*2"; echo $n
### expr
expr 3 + 4; expr 10 / 3; expr 5 \* 6; expr length hello; expr substr hello 2 3; expr abc : 'a\(.*\)'; expr 1 = 2; echo $?
### gcd by recursion
gcd() { (( $2 == 0 )) && echo $1 || gcd $2 $(( $1 % $2 )); }; gcd 1071 462
### a sum over lines
printf '1\n2\n3\n4\n' | { s=0; while read n; do ((s+=n)); done; echo $s; }
### fibonacci
a=0; b=1; for _ in {1..50}; do t=$((a+b)); a=$b; b=$t; done; echo $a
### spaces and newlines inside
echo $(( 1 +
2 )) $((  3  ))
### comparisons without blanks
a=1; b=2; ((a<=b)) && echo le; ((b>=a)) && echo ge; if ((a<=b)); then echo if; fi; while ((a<=3)); do ((a++)); done; echo $a; x=8; ((x>>=1)); echo $x; ((a<=$b)); echo $?
