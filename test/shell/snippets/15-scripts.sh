### a config is parsed
while IFS='=' read -r k v; do
  [[ -z $k || $k == \#* ]] && continue
  printf '%s -> %s\n' "$k" "$v"
done < app.conf
### + app.conf
# comment
name=demo

port=8080
url=http://x/?a=b
### a report by awk
awk -F, 'NR>1 { sum[$2]+=$3; n[$2]++ } END { for (k in sum) printf "%-8s %6.2f %d\n", k, sum[k]/n[k], n[k] }' data.csv | sort
### + data.csv
id,team,score
1,red,10
2,blue,20
3,red,15
4,blue,5
### arguments are parsed
parse() {
  local verbose=0 out=""
  local -a rest=()
  while [[ $# -gt 0 ]]; do
    case "$1" in
      -v|--verbose) verbose=1; shift ;;
      -o|--output) out="$2"; shift 2 ;;
      --output=*) out="${1#*=}"; shift ;;
      --) shift; rest+=("$@"); break ;;
      -*) echo "unknown $1" >&2; return 2 ;;
      *) rest+=("$1"); shift ;;
    esac
  done
  echo "verbose=$verbose out=$out rest=${rest[*]}"
}
parse -v --output=x a b; parse -o y -- -z; parse --bad; echo $?
### usage and exit
usage() { cat >&2 <<E
usage: tool [-h]
E
exit 2; }
[ $# -eq 0 ] && usage
### files are processed
set -euo pipefail
mkdir -p out
for f in in/*.txt; do
  name=$(basename "$f" .txt)
  lines=$(wc -l < "$f")
  tr a-z A-Z < "$f" > "out/$name.up"
  echo "$name: $lines"
done
cat out/*.up
### + in/one.txt
a
b
### + in/two.txt
c
### retry until it works
n=0
attempt() { n=$((n+1)); [ $n -ge 3 ]; }
until attempt; do echo "try $n failed"; [ $n -lt 10 ] || exit 1; done
echo "worked at $n"
### a lock directory
if mkdir lock 2>/dev/null; then echo locked; fi
if mkdir lock 2>/dev/null; then echo twice; else echo busy; fi
rmdir lock; [ -d lock ] || echo free
### todo comments are counted
grep -rn "TODO" src | sed -E 's/^([^:]+):([0-9]+):.*TODO:? *(.*)$/\1 line \2: \3/' | sort
### + src/a.ts
// TODO: first
code();
### + src/b.ts
x;
/* TODO second */
### json is made by hand
items=(a "b c" d); json="["; sep=""
for i in "${items[@]}"; do json+="$sep\"$i\""; sep=","; done
json+="]"; echo "$json" | jq -c 'length, .[1]'
### a table is printed
printf '%-6s|%6s\n' name count; printf '%-6s|%6s\n' ------ ------; while read -r a b; do printf '%-6s|%6d\n' "$a" "$b"; done <<E
x 1
yy 22
E
### primes
for ((n=2;n<40;n++)); do p=1; for ((d=2;d*d<=n;d++)); do ((n%d==0)) && { p=0; break; }; done; ((p)) && printf '%d ' $n; done; echo
### bubble sort
a=(5 3 9 1 7); n=${#a[@]}
for ((i=0;i<n;i++)); do for ((j=0;j<n-i-1;j++)); do if ((a[j]>a[j+1])); then t=${a[j]}; a[j]=${a[j+1]}; a[j+1]=$t; fi; done; done
echo "${a[@]}"
### fizzbuzz
for i in {1..15}; do o=; ((i%3)) || o+=Fizz; ((i%5)) || o+=Buzz; echo "${o:-$i}"; done
### word frequencies
tr -cs '[:alpha:]' '\n' < t.txt | tr A-Z a-z | sort | uniq -c | sort -k1,1nr -k2 | head -3 | awk '{print $2, $1}'
### + t.txt
The cat and the dog. The end, and the cat.
### a template is filled
name=World; count=3
cat > out.txt <<E
Hello ${name^^},
you have $count item$([ $count -ne 1 ] && echo s).
Total: \$$((count * 5))
E
cat out.txt
### logs with levels
log() { local level=$1; shift; printf '[%s] %s\n' "$level" "$*" >&2; }
die() { log ERROR "$@"; exit 1; }
log INFO starting; [ -f missing ] || die "no file"; echo never
### a temporary directory
work=$(mktemp -d); cd "$work" && echo data > f && wc -c < f; cd - > /dev/null; rm -rf "$work"; [ -d "$work" ] || echo gone
### a state machine
state=start; for e in go stop go reset; do case $state:$e in start:go) state=run;; run:stop) state=halt;; halt:go) state=run;; *:reset) state=start;; esac; echo "$e -> $state"; done
### csv columns
cut -d, -f2 c.csv | tail -n +2 | sort -u | paste -sd' '; awk -F, '{print NF}' c.csv | sort -u
### + c.csv
a,b,c
1,x,2
3,y,4
5,x,6
### git-like diff summary
diff <(sort old) <(sort new) | grep '^[<>]' | sed 's/^</removed/; s/^>/added/'
### + old
a
b
c
### + new
b
c
d
### parallel jobs gather results
for i in 1 2 3; do { echo "r$i" > "res.$i"; } & done; wait; cat res.*; rm res.*
### heredoc scripts
cat > hello.sh <<'E'
#!/usr/bin/env bash
set -e
for n in "$@"; do echo "hello $n"; done
E
chmod +x hello.sh; ./hello.sh a "b c"
### exit codes are told
run() { "$@"; local s=$?; echo "$1 -> $s"; return $s; }
run true; run false; run sh -c 'exit 7'; echo "last $?"
### binary search
a=(1 3 5 7 9 11); t=7; lo=0; hi=$((${#a[@]}-1)); while ((lo<=hi)); do m=$(((lo+hi)/2)); if ((a[m]==t)); then echo "at $m"; break; elif ((a[m]<t)); then lo=$((m+1)); else hi=$((m-1)); fi; done
### environment files
set -a; . ./.env; set +a; bash -c 'echo "$DB_HOST:$DB_PORT"'
### + .env
DB_HOST=localhost
DB_PORT="5432"
### markdown headings
grep -n '^#' doc.md | while IFS=: read -r n h; do level=${h%%[^#]*}; echo "$n ${#level} ${h##*# }"; done
### + doc.md
# Top
text
## Part one
### version comparison
newest() { printf '%s\n' "$@" | sort -V | tail -n 1; }; newest 1.2.10 1.2.9 1.10.0 1.9.9
### hex and back
printf 'hi' | od -An -tx1 | tr -d ' \n'; echo; printf '\x68\x69\n'; printf '%d\n' 0xff; printf '%x\n' 255
### url encoding
enc() { local s=$1 i c; for ((i=0;i<${#s};i++)); do c=${s:i:1}; case $c in [a-zA-Z0-9.~_-]) printf '%s' "$c";; *) printf '%%%02X' "'$c";; esac; done; echo; }; enc 'a b&c=d/é'
### stdin is optional
count() { if [ $# -gt 0 ]; then cat "$@"; else cat; fi | wc -l; }; echo x > f; count f f; printf '1\n2\n3\n' | count
### output is checked
expect() { [ "$1" = "$2" ] && echo "ok $3" || echo "not ok $3"; }; expect "$(echo a | tr a b)" b tr; expect "$(printf '%02d' 5)" 05 printf
### nested data
declare -A user; while IFS='|' read -r id name mail; do user[$id.name]=$name; user[$id.mail]=$mail; done <<E
1|Ann|ann@x
2|Bob|bob@x
E
for id in 1 2; do echo "${user[$id.name]} <${user[$id.mail]}>"; done
