// What one user can try in order to take the gateway from the others, and how each must end: by a limit or a timeout, with a
// message that says so, or by itself within bounds.

export type Culprit = {
  name: string;
  input: string;
  /** What its answers must say, all together; null if it may simply end. */
  ends: RegExp | null;
  /** Part of a short run. */
  isQuick?: true;
  /** How many run at once. */
  times?: number;
};

/** In the output of a command that was stopped. */
const STOPPED = /limit|timed out|exceed|too (?:large|many|long)|no end|memory/i;

const AS = "a".repeat(40);

export const CULPRITS: Culprit[] = [
  { isQuick: true, name: "busy loop", input: "while true; do :; done", ends: STOPPED },
  { isQuick: true, name: "recursion", input: "f() { f; }; f", ends: STOPPED },
  { isQuick: true, name: "string doubling", input: 'x=aaaaaaaaaaaaaaaa; while true; do x="$x$x"; done', ends: STOPPED },
  { name: "array growth", input: 'i=0; while true; do a[$i]="element $i of many"; i=$((i+1)); done', ends: STOPPED },
  {
    isQuick: true,
    name: "array of strings",
    input: 's=$(printf "%10000s" x); i=0; while true; do a[$i]="$s$i"; i=$((i+1)); done',
    ends: STOPPED,
  },
  { name: "endless device", input: "head -c 1G /dev/zero | wc -c", ends: null },
  { isQuick: true, name: "cat of a large file", input: "cat big", ends: STOPPED },
  { name: "grep of a large file", input: "grep x big", ends: STOPPED },
  { name: "largest files a command takes", input: "for i in 1 2 3 4 5 6 7 8; do cat fits > /dev/null; grep -c zzz fits; done", ends: null },
  { isQuick: true, name: "flood", input: "while true; do echo yes; done", ends: STOPPED },
  { name: "flood into a pipe", input: "while true; do echo yes; done | head -n 100000000 | wc -l", ends: STOPPED },
  { name: "output flood", input: "for i in $(seq 100000); do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", ends: null },
  { name: "error flood", input: "while true; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx >&2; done", ends: STOPPED },
  { name: "fork bomb", input: "f() { f | f & }; f; wait", ends: null },
  { name: "grep backtracking", input: `echo ${AS}b | grep -E '^(a+)+$'`, ends: null },
  { isQuick: true, name: "bash backtracking", input: `x=${AS}b; [[ $x =~ ^(a+)+$ ]]; echo $?`, ends: null },
  { name: "sed backtracking", input: `echo ${AS}b | sed -E 's/^(a+)+$/x/'`, ends: null },
  { name: "awk backtracking", input: `echo ${AS}b | awk '/^(a+)+$/ { print }'`, ends: null },
  { name: "brace expansion", input: "echo {1..100}{1..100}{1..100}{1..100} | wc -c", ends: STOPPED },
  { name: "find in a loop", input: "while true; do find / > /dev/null; done", ends: STOPPED },
  { isQuick: true, name: "many files", input: "i=0; while true; do echo $i > many/f$i; i=$((i+1)); done", ends: STOPPED },
  { name: "appending", input: "while true; do seq 1 2000 >> grows; done", ends: STOPPED },
  { name: "twenty at once", input: "while true; do :; done", ends: /limit|timed out|Too many commands/i, times: 20 },
];
