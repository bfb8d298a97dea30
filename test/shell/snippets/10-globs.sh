### star and question mark
touch a.txt b.txt ab.txt c.md; echo *.txt; echo ?.txt; echo [ab].*; echo [!a]*
### no match stays
echo *.nothing; ls *.nothing 2>/dev/null; echo $?
### hidden files
touch .hidden seen; echo *; echo .h*; shopt -s dotglob; echo *
### directories
mkdir -p d/e; touch d/x d/e/y; echo d/*; echo */; echo d/*/y
### globstar
mkdir -p a/b/c; touch a/1.txt a/b/2.txt a/b/c/3.txt; shopt -s globstar; echo **/*.txt; for f in a/**; do echo $f; done
### extended globs
touch a.c b.h c.o d; shopt -s extglob; echo !(*.o); echo *.@(c|h); echo ?(a|b).*; x=aaab; echo ${x##+(a)}
### classes
touch a1 b2 C3 _4; echo [[:upper:]]*; echo *[[:digit:]]; echo [[:alpha:]]*; echo [a-z]*
### names with blanks
touch 'a b' 'c d'; for f in *; do echo "[$f]"; done; ls | wc -l; rm -- * ; ls
### names with odd characters
touch -- '-dash' 'q?' 'st*r' "quo'te"; for f in *; do echo "$f"; done; rm -- ./-dash; ls
### a glob in a variable
touch x1 x2; p='x*'; echo $p "$p"; set -- $p; echo $#
### braces
echo {a,b,c} x{1,2}y {a,b}{1,2} {a,{b,c}d} {} {a} a{,b}
### ranges
echo {1..5} {5..1} {a..e} {01..03} {1..10..3} {z..w} {-2..2}
### braces make paths
mkdir -p p/{a,b}/{x,y}; find p -type d | sort; touch f.{txt,bak}; ls f.*
### braces and quotes
echo "{a,b}" \{a,b\} {"a b",c} '{1..3}'; x=3; echo {1..$x}
### sorted order
touch b a C B 1 _; echo *; ls
### failglob
shopt -s failglob; echo *.none; echo after $?
### escapes in patterns
touch 'a*b' ab axb; echo a\*b a*b; [[ 'a*b' == a\*b ]] && echo exact
### nocaseglob and nocasematch
touch ABC; shopt -s nocaseglob; echo a*; shopt -s nocasematch; [[ ABC == abc ]] && echo same
### glob order of numbers
touch f1 f10 f2; echo f*; ls -1 f*
