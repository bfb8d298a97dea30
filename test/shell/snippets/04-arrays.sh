### literals and elements
a=(one "two three" four); echo "${a[0]}" "${a[1]}" "${#a[@]}"; printf '<%s>' "${a[@]}"; echo
### appending elements
a=(); a+=(x); a+=(y z); echo "${a[@]}" ${#a[@]}
### sparse arrays
a=([2]=c [5]=f); echo "${!a[@]}" "${a[@]}" ${#a[@]}; a[9]=z; echo "${!a[@]}"
### removing an element
a=(a b c d); unset 'a[1]'; echo "${a[@]}" "${!a[@]}" ${#a[@]}
### slices
a=(a b c d e); echo "${a[@]:1:3}" "|" "${a[@]: -2}" "|" "${a[@]:3}"
### changing every element
a=(a.txt b.txt); echo "${a[@]%.txt}" "${a[@]/#/pre-}" "${a[@]^^}" "${a[@]/t/T}"
### associative arrays
declare -A m; m[one]=1; m[two]=2; m["with space"]=3; echo ${m[one]} ${m["with space"]} ${#m[@]}; for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done | sort
### associative literals
declare -A m=([a]=1 [b]=2); unset 'm[a]'; echo "${!m[@]}" "${m[@]}"; [[ -v m[b] ]] && echo has; [[ -v m[a] ]] || echo lacks
### counting words
declare -A n; for w in a b a c a b; do ((n[$w]++)); done; for k in a b c; do echo $k ${n[$k]}; done
### reading into an array
read -ra a <<< "x y  z"; echo ${#a[@]} "${a[2]}"; IFS=, read -ra b <<< "1,2,,4"; echo ${#b[@]} "[${b[2]}]"
### mapfile
mapfile -t a < <(printf 'l1\nl 2\nl3\n'); echo ${#a[@]} "${a[1]}"; readarray -t b <<< $'x\ny'; echo "${b[@]}"
### an array from a glob
touch b.x a.x; a=(*.x); echo "${a[@]}" ${#a[@]}
### an array passed on
f() { local -a copy=("$@"); echo ${#copy[@]} "${copy[1]}"; }; a=(x 'y z'); f "${a[@]}"
### name references
f() { local -n ref=$1; ref+=(new); echo "${ref[@]}"; }; a=(old); f a; echo ${#a[@]}
### star joins
a=(x y z); IFS=+; echo "${a[*]}"; unset IFS; echo "${a[*]}"
### loop by index
a=(x y z); for i in "${!a[@]}"; do echo "$i:${a[i]}"; done
### a stack and a queue
s=(1 2 3); unset 's[-1]'; echo "${s[@]}"; q=(1 2 3); q=("${q[@]:1}"); echo "${q[@]}"
### membership
a=(red green); x=green; if [[ " ${a[*]} " == *" $x "* ]]; then echo in; fi
### declare prints
a=(1 'b c'); declare -p a; x=1; declare -p x; declare -A m=([k]=v); declare -p m
### empty arrays with nounset
set -u; a=(); echo "${#a[@]}"; for i in "${a[@]}"; do echo never; done; echo "${a[@]:-none}"
### local arrays keep their words
f() { local -a a=("$@" "x y"); local b=(1 $(echo 2 3) "4 5"); echo ${#a[@]} ${#b[@]} "${a[1]}"; }; f p "q r"; a=(z); f; echo "${a[@]}"
### declared maps keep their values
declare -A m=([a]=1 [b]="2 3" ["c d"]='e f'); echo "${m[b]}|${m["c d"]}|${#m[@]}"; declare -a l=("x y" *.none); echo ${#l[@]}
### lists from commands
f() { local -a files=($(printf 'a\nb\n')); local n=("x $(echo y)" $(seq 2)); echo ${#files[@]} ${#n[@]} "${n[0]}"; }; f; declare -a d=($(echo 1 2 3)); echo ${d[2]}
