### copy
echo a > f; cp f g; cat g; mkdir d; cp f g d; ls d; cp -r d e; ls e; cp d x; echo $?; cp nothing y; echo $?
### copy into a directory that is there
mkdir -p d/sub t; echo 1 > d/sub/f; cp -r d t; find t | sort; cp -r d/. t; find t | sort
### copy keeps a mode
echo x > f; chmod 755 f; cp f g; stat -c %a g; cp -p f h; stat -c %a h
### copy over a file keeps its mode
echo a > f; echo b > g; chmod 600 g; cp f g; stat -c %a g; cat g
### move
echo a > f; mv f g; ls; mkdir d; mv g d; ls d; mv d e; ls e; mv nothing x; echo $?; echo b > h; mv -n h e/g; cat e/g; ls
### move over
echo a > f; echo b > g; mv f g; cat g; ls; mkdir d; mv g d/new; cat d/new
### remove
touch a b; rm a; ls; rm nothing; echo $?; rm -f nothing; echo $?; mkdir -p d/e; rm d; echo $?; rm -r d; ls
### remove verbosely
touch a; rm -v a; mkdir d; rmdir d; echo $?; mkdir -p x/y; rmdir x; echo $?; rmdir x/y x; ls
### make directories
mkdir d; mkdir d; echo $?; mkdir -p d/e/f; mkdir x/y; echo $?; find d | sort; mkdir -p d; echo $?
### touch
touch a; ls -l a | cut -c1-10; wc -c < a; touch -d @0 a; stat -c %Y a; touch -t 200101010000 b; date -u -r a +%F; touch -c none; ls
### list
mkdir d; touch a .h d/x; ls; ls -a; ls -A; ls -d d; ls d a; ls -1; ls -p; ls -F
### list of many
mkdir x y; touch x/1 y/2; ls x y; ls -R; ls none; echo $?
### list by size and time
printf 123 > big; printf 1 > small; touch -d @100 big; touch -d @200 small; ls -S; ls -t; ls -rt; ls -Sr
### long list
printf 12345 > f; chmod 640 f; ls -l f | awk '{print $1, $2, $5, $NF}'; mkdir d; ls -ld d | cut -c1-10
### find
mkdir -p a/b; touch a/1.txt a/b/2.txt a/b/3.md; find a -name '*.txt' | sort; find a -type d | sort; find a -maxdepth 1 | sort; find . -mindepth 2 -type f | sort; find a -not -name '*.txt' -type f
### find with actions
mkdir d; echo x > d/a; echo yy > d/b; find d -type f -exec cat {} \; | sort; find d -type f -exec echo {} + | tr ' ' '\n' | sort | tail -2; find d -name a -delete; ls d; find d -type f -print0 | xargs -0 cat
### find more
mkdir d; printf 12345 > d/five; touch d/empty; find d -size +3c -type f; find d -empty; find d \( -name five -o -name none \); find d -iname 'FIVE'; find d -name '*e*' -path 'd/f*'; find none; echo $?
### find prints
mkdir -p d/e; touch d/f; find d -printf '%f %y\n' | sort; find d -mindepth 1 -prune | sort
### symbolic links
echo x > f; ln -s f l; cat l; readlink l; [ -L l ] && echo link; ls
### hard links
echo x > f; ln f g; echo y >> g; cat f
### cmp
printf abc > a; printf abc > b; printf abd > c; cmp a b; echo $?; cmp a c; echo $?; cmp -s a c; echo $?
### stat formats
printf 123 > f; stat -c '%n %s %F' f; mkdir d; stat -c %F d; stat none; echo $?; touch e; stat -c %F e; stat --format='%s' f
### working directory
mkdir -p a/b; cd a/b; basename "$PWD"; cd ..; basename "$(pwd)"; cd - > /dev/null; basename $PWD; cd nothing; echo $?; cd; [ "$PWD" = "$HOME" ] && echo home
### pushd and popd
mkdir a b; pushd a > /dev/null; basename $PWD; pushd ../b > /dev/null; basename $PWD; popd > /dev/null; basename $PWD; dirs | wc -w
### realpath
mkdir -p a/b; touch a/b/f; cd a; [ "$(realpath b/../b/f)" = "$PWD/b/f" ] && echo same; readlink -f b/f | sed "s|$PWD|.|"; realpath none/x; echo $?
### mktemp
f=$(mktemp); [ -f "$f" ] && echo file; d=$(mktemp -d); [ -d "$d" ] && echo dir; case $f in /tmp/tmp.??????????) echo named;; esac; g=$(mktemp ./x-XXXXXX.txt); case $g in ./x-??????.txt) echo template;; esac; stat -c %a "$f" "$d"; rm -r "$f" "$d"
### disk usage of a file
printf 12345 > f; du -b f | cut -f1; [ -n "$(du -s .)" ] && echo some
### cat many
printf 'a\n' > a; printf 'b' > b; cat a b a; cat a none b; echo $?
### dd
printf abcdef > f; dd if=f bs=2 count=2 2>/dev/null; echo; dd if=f of=g bs=1 skip=3 2>/dev/null; cat g; echo
### truncate
printf abcdef > f; truncate -s 3 f; cat f; echo; truncate -s 5 f; wc -c < f
### umask
umask; umask 077; touch f; stat -c %a f
### install a tree
mkdir -p src/{lib,bin}; for f in lib/a lib/b bin/run; do echo "$f" > src/$f; done; cp -r src dst; diff -r src dst && echo same; rm -rf src; find dst -type f | sort | xargs cat
### rename many
touch a.jpeg b.jpeg; for f in *.jpeg; do mv -- "$f" "${f%.jpeg}.jpg"; done; ls
### a file per line
while read n v; do echo "$v" > "$n.txt"; done <<< $'a 1\nb 2'; head *.txt
### an empty directory
mkdir d; ls d; find d; [ -z "$(ls -A d)" ] && echo empty
### yes
yes | head -3; yes no | head -n 2; yes | head -c 4
### nproc tput and friends
[ "$(nproc)" -ge 1 ] && echo cpus; arch > /dev/null; echo $?; true --help; false; echo $?
### cksum and sum
printf hello | cksum; printf hello > f; cksum f
### which
which ls > /dev/null; echo $?; which nosuch; echo $?; [ -x "$(command -v cat)" ] && echo runs
