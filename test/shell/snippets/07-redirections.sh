### write and append
echo a > f; echo b >> f; cat f; echo c > f; cat f
### errors to a file
ls nothing 2> err; echo $?; [ -s err ] && echo said
### both streams
{ echo o; echo e >&2; } > both 2>&1; cat both; { echo o; echo e >&2; } &> amp; cat amp
### errors into the pipe
{ echo o; echo e >&2; } 2>&1 | sort; { echo o2; echo e2 >&2; } |& sort
### order of redirections
{ echo o; echo e >&2; } 2>&1 > f | sed 's/^/piped /'; cat f
### swap of streams
{ echo o; echo e >&2; } 3>&1 1>&2 2>&3 3>&- | sed 's/^/out /' 2>/dev/null
### to nowhere
echo a > /dev/null; ls nothing 2>/dev/null; echo $?; echo b 2>&1 >/dev/null
### to stderr
echo err >&2; echo out
### here documents
cat <<E
a
  b
E
### quoted here documents
x=1; cat <<'E'
$x `date` \n
E
### indented here documents
cat <<-E
	tabs go
	  spaces stay
	E
### two here documents
cat <<A; cat <<B
a
A
b
B
### here strings
cat <<< "one string"; x='a  b'; cat <<< $x; wc -c <<< ''
### a here document into a loop
while read a b; do echo "$b $a"; done <<E
1 one
2 two
E
### here document to a file
cat > f.conf <<E
name=$((1+1))
E
cat f.conf
### descriptors by number
exec 3> f; echo three >&3; exec 3>&-; cat f; exec 4< f; read x <&4; exec 4<&-; echo "[$x]"
### reading line by line from a descriptor
printf 'a\nb\nc\n' > f; exec 5< f; read x <&5; read y <&5; exec 5<&-; echo $x $y
### read and write in one command
echo b > f; echo a >> f; sort f > g; mv g f; cat f
### noclobber
set -C; echo a > f; echo b > f; echo $?; echo c >| f; cat f
### a missing input
cat < nothing; echo $?
### a missing directory
echo x > no/such/dir; echo $?
### redirect a whole block
if true; then echo a; ls nothing; fi > out 2> err; cat out; wc -l < err
### tee
echo a | tee f g; echo b | tee -a f > /dev/null; cat f g
### process substitution in
diff <(printf 'a\nb\n') <(printf 'a\nc\n'); echo $?; paste <(seq 3) <(seq 4 6)
### process substitution out
echo hello > >(cat > f); sleep 0.1; cat f
### empty a file
echo x > f; > f; wc -c < f; : > g; [ -e g ] && echo there
### cat with dash
echo mid | cat <(echo top) - <(echo end)
### heredoc with a pipe
cat <<E | tr a-z A-Z
shout
E
### heredoc keeps blank lines and quotes
cat <<E
"a" 'b'

  end\\
E
### output of exec
exec > log; echo logged; exec > /dev/stderr; cat log >&2
### named descriptors
exec {fd}> f; echo named >&$fd; exec {fd}>&-; cat f
### a variable as a target
f='a file'; echo x > "$f"; cat "a file"; ls
### append both streams
{ echo a; echo b >&2; } &>> log; echo c &>> log; cat log
### a file that cannot be written
echo x > no/f || echo failed; for i in 1 2; do echo $i; done > no/g; echo $?; { echo a; } >> no/h; echo $?; mkdir d; echo x > d; echo $?; echo end
