### grep basics
printf 'apple\nBanana\ncherry\n' > f; grep an f; grep -i BAN f; grep -v a f; grep -n e f; grep -c . f; grep -q zzz f; echo $?
### grep expressions
printf 'a1\nb22\nc\n' | grep -E '[0-9]{2}|^c$'; printf 'a+b\naab\n' | grep -F 'a+b'; printf 'foo bar\n' | grep -o '[a-z]*'; printf 'ab\nabc\n' | grep -x ab; printf 'word\nsword\n' | grep -w word
### grep context
seq 1 10 | grep -A1 -B1 5; seq 1 10 | grep -m 2 1; seq 1 12 | grep -C1 -e 3 -e 10
### grep in files
mkdir d; echo hit > d/a; echo miss > d/b; echo hit > d/c; grep -r hit d | sort; grep -l hit d/* ; grep -L hit d/*; grep -h hit d/*; grep -c hit d/*
### grep of a missing file
grep x nothing; echo $?; grep -s x nothing; echo $?
### grep perl
echo 'price: 42 usd' | grep -oP '\d+(?= usd)'; echo 'a1b2' | grep -oE '[0-9]'; echo 'key="v"' | grep -oP 'key="\K[^"]+'
### grep include
mkdir -p s/t; echo x > s/a.ts; echo x > s/b.js; echo x > s/t/c.ts; grep -rl --include='*.ts' x s | sort; grep -rn x s | sort
### sed substitution
echo 'hello world' | sed 's/o/0/'; echo 'hello world' | sed 's/o/0/g'; echo 'a/b' | sed 's|/|-|'; echo abc | sed 's/\(a\)\(b\)/\2\1/'; echo abc | sed -E 's/(a)(b)/[&]\2\1/'; echo ABC | sed 's/b/x/I'; echo aaa | sed 's/a/b/2'
### sed addresses
seq 1 6 | sed -n '2,4p'; seq 1 6 | sed '2d;4,5d'; seq 1 6 | sed -n '$p'; seq 1 6 | sed '/3/,/5/d'; seq 1 6 | sed -n '0~2p'; seq 1 6 | sed '3q'; seq 3 | sed '2!d'
### sed edits a text
printf 'a\nb\n' | sed '1i top'; printf 'a\nb\n' | sed '$a end'; printf 'a\nb\n' | sed '1c changed'; printf 'a\nb\n' | sed 'y/ab/xy/'; printf 'a\nb\n' | sed '='
### sed in place
printf 'x=1\ny=2\n' > f; sed -i 's/1/10/' f; cat f; sed -i.bak '/y/d' f; cat f f.bak; ls
### sed over several lines
printf 'a\nb\nc\n' | sed ':a;N;$!ba;s/\n/,/g'; printf 'a\nb\n' | sed 'N;s/\n/-/'; printf '1\n2\n3\n' | sed -n '1!G;h;$p'; printf 'a  \n' | sed 's/ *$/|/'
### sed groups and case
echo 'john smith' | sed -E 's/(\w+) (\w+)/\2, \1/'; echo 'john' | sed 's/^./\U&/'; echo 'FOO bar' | sed 's/.*/\L&/'; echo a.b | sed 's/\./\n/'
### sed scripts
printf '# c\nkey = v\n\n[x]\n' | sed -e '/^#/d' -e '/^$/d' -e 's/ *= */=/'; printf 'one\n' > w; printf 's/one/two/\n' > s.sed; sed -f s.sed w
### awk fields
printf 'a 1\nb 2\nc 3\n' | awk '{print $2, $1}'; printf 'a:b:c\n' | awk -F: '{print $NF, NF}'; printf 'a,b\n' | awk 'BEGIN{FS=",";OFS="-"}{$1=$1;print}'
### awk sums
printf 'a 1\nb 2\na 3\n' | awk '{s+=$2} END{print s, NR, s/NR}'; printf 'a 1\nb 2\na 3\n' | awk '{n[$1]+=$2} END{for(k in n) print k, n[k]}' | sort
### awk patterns
seq 1 10 | awk 'NR%3==0'; seq 1 10 | awk '$1>8'; printf 'x\ny start\nz\nend\nw\n' | awk '/start/,/end/'; seq 5 | awk 'NR==2,NR==3{print "l" $0}'; printf 'a\n\nb\n' | awk NF
### awk functions
echo 'Hello World' | awk '{print length($0), toupper($1), tolower($2), substr($0,1,4), index($0,"World")}'; echo a-b-c | awk '{n=split($0,p,"-"); print n, p[2]; gsub(/-/,"+"); print; sub(/\+/,"."); print}'; echo x | awk '{printf "%05.2f|%-4s|%d\n", 3.14159, $1, 42.9}'
### awk programs
awk 'BEGIN{for(i=1;i<=3;i++){if(i==2)continue;print i}; while(j<2)j++; print j; do{k++}while(k<5); print k; print (1<2)?"y":"n"}'; awk -v x=5 'BEGIN{print x*2; print x ^ 2; print x "" x}'; awk 'function f(n){return n<2?n:f(n-1)+f(n-2)} BEGIN{print f(15)}'
### awk matches
echo 'id=42 name=x' | awk 'match($0,/[0-9]+/){print RSTART, RLENGTH, substr($0,RSTART,RLENGTH)} $0 ~ /name/{print "named"} $1 !~ /x/{print "no"}'
### awk over two files
printf '1 a\n2 b\n' > x; printf '1 A\n2 B\n' > y; awk 'NR==FNR{m[$1]=$2;next}{print $1, m[$1], $2}' x y; awk 'END{print FILENAME, FNR, NR}' x y
### awk output and getline
printf 'a\nb\n' | awk '{print > "out-" $1}'; cat out-a out-b; awk 'BEGIN{while(("echo l1; echo l2" | getline x)>0) print "got " x; print 1 | "cat"; close("cat")}'
### awk paragraphs and csv
printf 'a b\nc\n\nd\n' | awk 'BEGIN{RS=""}{print NR": "$1" "NF}'; printf 'n,v\nx,3\ny,4\n' | awk -F, 'NR>1{t+=$2} END{printf "%.1f\n", t}'; awk 'BEGIN{print substr("hello",2,3), sprintf("%03d",7), int(3.9), 7%3, 2^8}'
### awk deletes and checks
awk 'BEGIN{a["x"]=1;a["y"]=2;delete a["x"]; print ("x" in a), ("y" in a), length(a); a[1,2]=3; for(k in a) n++; print n; exit 4}'; echo $?
### sort
printf 'b\na\nC\n10\n9\n' > f; sort f; sort -r f; sort -n f; sort -f f; printf '3 c\n1 b\n2 a\n' | sort -k2; printf '3 c\n1 b\n2 a\n' | sort -k1,1n; printf 'x:2\ny:10\n' | sort -t: -k2 -nr; printf 'a\na\nb\n' | sort -u
### sort more
printf '1K\n2M\n3\n' | sort -h; printf '1.10\n1.9\n1.2\n' | sort -V; printf 'b\na\n' | sort -c; echo $?; printf 'a 2\nb 1\na 1\n' | sort -k1,1 -k2,2n; printf 'b\na\n' > f; sort -o f f; cat f; printf 'x 1\ny 1\n' | sort -s -k2,2
### uniq
printf 'a\na\nb\na\n' > f; uniq f; uniq -c f; uniq -d f; uniq -u f; printf 'A\na\n' | uniq -i; sort f | uniq -c | sort -rn | awk '{print $2, $1}'
### cut
echo a:b:c:d | cut -d: -f2; echo a:b:c:d | cut -d: -f2-; echo a:b:c:d | cut -d: -f1,3; echo abcdef | cut -c2-4; echo abcdef | cut -b1,6; printf 'a\tb\n' | cut -f2; echo a:b | cut -d: -f1 --complement; echo nodelim | cut -d: -f2; echo a:b:c | cut -d: -f1,3 --output-delimiter=,
### tr
echo hello | tr a-y b-z; echo 'a  b' | tr -s ' '; echo a1b2 | tr -d 0-9; echo abc | tr -c 'a\n' x; echo 'a b c' | tr ' ' '\n'; echo Hello | tr '[:lower:]' '[:upper:]'; echo aabb | tr -s ab; echo abc | tr abc x
### paste
printf '1\n2\n3\n' > a; printf 'x\ny\n' > b; paste a b; paste -d, a b; paste -sd+ a; seq 6 | paste - - -
### join and comm
printf 'a 1\nb 2\nc 3\n' > x; printf 'a X\nc Z\nd W\n' > y; join x y; join -a1 x y; join -v2 x y; printf 'a\nb\n' > p; printf 'b\nc\n' > q; comm p q; comm -12 p q; comm -23 p q
### head and tail
seq 20 > f; head -3 f; head -n -18 f; tail -2 f; tail -n +19 f; head -c 5 f; tail -c 4 f; head -n1 f f; seq 3 | head -n 0; seq 5 | tail -n +4 | head -1
### wc
printf 'one two\nthree\n' > f; wc f; wc -l f; wc -w < f; wc -c f; wc -l f f; printf '' | wc -l; printf 'abc' | wc -L
### diff
printf 'a\nb\nc\n' > x; printf 'a\nB\nc\nd\n' > y; diff x y; echo $?; diff -u x y | tail -n +3; diff -q x y; diff x x; echo $?
### diff of directories
mkdir p q; echo 1 > p/a; echo 2 > q/a; echo 3 > p/only; diff -rq p q; echo $?
### base64 and digests
printf hello | base64; echo aGVsbG8= | base64 -d; echo; printf hello | sha256sum; printf hello | md5sum; printf hello | sha1sum; head -c 60 /dev/zero | base64; printf '%s' hello | base64 -w0; echo
### digests of files
printf a > a; printf b > b; sha256sum a b > sums; sha256sum -c sums; echo $?; echo x > a; sha256sum -c sums 2>/dev/null; echo $?
### dates
date -u -d @0 +%Y-%m-%dT%H:%M:%SZ; date -u -d @86400 '+%F %T %a %b %j %u'; date -u -d '2024-02-29 12:30:00' +%s; date -u -d @0 -Iseconds; date -u -d '2024-01-31' '+%d/%m/%y %A %B'; date -u -d @1700000000 +%s%N | cut -c1-10
### relative dates
date -u -d '2024-01-01 +1 day' +%F; date -u -d '2024-03-01 -1 day' +%F; date -u -d '2024-01-31 12:00 UTC' +%H:%M; date -u -d '1 day ago' +%F > /dev/null; echo $?
### seq
seq 3; seq 2 4; seq 0 5 10; seq 3 -1 1; seq -w 8 10; seq -s, 3; seq 1 0.5 2; seq -f 'n%02g' 2
### basename and dirname
basename /a/b.txt; basename /a/b.txt .txt; dirname /a/b.txt; dirname a; basename a/; dirname /; basename -s .c x.c y.c
### jq basics
echo '{"a":1,"b":[1,2,{"c":"x"}]}' > f.json; jq .a f.json; jq -r '.b[2].c' f.json; jq -c . f.json; jq '.b | length' f.json; jq -r 'keys[]' f.json; jq '.missing' f.json; jq . f.json
### jq transforms
echo '[{"n":"a","v":3},{"n":"b","v":1}]' | jq -c 'map(select(.v>1))'; echo '[{"n":"a","v":3},{"n":"b","v":1}]' | jq -r '.[] | "\(.n)=\(.v)"'; echo '[3,1,2]' | jq -c 'sort, add, max, (map(.*2))'; jq -n --arg x hi '{x:$x}' -c; echo '{"a":{"b":2}}' | jq '.a.b += 1' -c; echo '[1,2]' | jq -r '@csv'; echo '"x"' | jq -r .
### jq reduce and errors
echo '[1,2,3]' | jq 'reduce .[] as $x (0; .+$x)'; echo '{"a":1}' | jq -e .b; echo $?; echo 'not json' | jq . ; [ $? -ne 0 ] && echo failed; echo '{"a":1}{"a":2}' | jq -s -c .; echo '{"a":[1,2]}' | jq -c 'to_entries, (.a|first), has("a")'; printf '{"k":"v"}' | jq -r '.k // "d", .z // "d"'
### tsv to json
printf 'a\t1\nb\t2\n' | jq -R -c 'split("\t") | {k:.[0], v:(.[1]|tonumber)}'
### split
seq 10 > f; split -l 4 f part-; ls part-*; cat part-ac; printf abcdef | split -b 2 - b-; cat b-ab
### gzip
seq 1000 > f; gzip -k f; ls; gunzip -c f.gz | tail -1; gzip -dc f.gz | cmp - f && echo same; zcat f.gz | head -1
### tar
mkdir d; echo x > d/a; tar cf d.tar d; tar tf d.tar; rm -r d; tar xf d.tar; cat d/a
### bc
echo '2+3*4' | bc; echo 'scale=2; 10/3' | bc; echo '2^64' | bc
### shuf keeps lines
seq 5 | shuf | sort -n | tr '\n' ' '; echo; shuf -n 2 -i 1-10 | wc -l
### envsubst and printenv
export A=1; printenv A; printenv NOTHING; echo $?; env | grep '^A='; env -i B=2 sh -c 'echo "[$A][$B]"'
### strings and file
printf 'text\n' > f; printf 'ab\0cdefg\0' | strings; wc -c f
### log analysis
printf '%s\n' '1.1.1.1 GET /a 200' '2.2.2.2 GET /b 404' '1.1.1.1 GET /a 500' '1.1.1.1 POST /a 200' > log; awk '{print $1}' log | sort | uniq -c | sort -rn | sed 's/^ *//'; awk '$4>=400{print $3, $4}' log; cut -d' ' -f2 log | sort | uniq -c | awk '{print $2":"$1}'
