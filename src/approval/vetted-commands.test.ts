// Which command lines for a device consist only of vetted programs. What is not listed is not vetted.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readCommands } from "./commands.ts";
import { parseScript } from "./script.ts";
import type { Script } from "../shell/syntax.ts";
import { isVettedCommand, splitCommands } from "./vetted-commands.ts";
import { isVettedProgram, VETTED_PROGRAMS } from "./vetted-programs.ts";
import { readWord } from "./words.ts";

test.each([
  "uptime",
  "  uptime -p\n",
  "df -h; free -h && uname -a || true",
  "ps aux | grep -v grep | grep -i 'node server' | head -20",
  "ps -ef",
  "ls -la ~/src C:/Users/ann 2>/dev/null",
  "ls -la --color=never src\nls src",
  "head -n 20 a.md; tail -n+5 b.md; head -c5 c",
  "wc -l a b 2>&1 | sort -rn -k1,1 -t: | uniq -c",
  "cut -d' ' -f1,2 a | tr 'a-z' A-Z",
  "echo \"== disk & memory ==\" --- 'a|b' > notes/out.txt",
  "echo Größe >> notiz-ä.md",
  "find . -type f -name '*.ts' -not -path './node_modules/*' -mtime -2 -size +1k",
  "find src docs -maxdepth 2 -print0",
  "grep -nE 'foo\\.(bar|baz)$' src/a.ts",
  "grep -e x -A3 -m 5 a",
  "test -f a -o -d b && echo yes",
  "du -sh --max-depth=1 .",
  "date -u +%F",
  "stat -c %s a; stat --format='%s' a",
  "sha256sum a | tee -a sums.txt",
  "mkdir -p new/sub; touch new/a",
  "cat -; cd ..",
])("%j is vetted", (text) => {
  expect(isVettedCommand(text)).toBe(true);
});

test.each([
  "",
  " \n;",
  "evil",
  "UPTIME",
  "constructor",
  "/bin/ls",
  "./ls",
  "git status",
  "cp a b",
  "ls a b | sh",
  "ls; sh x",
  "time ls",
  "env",
  "env A=1 ls",
  "A=1 ls",
  "A=1",
  "nice ls",
  "command ls",
  "exec ls",
  "! ls",
  "ls &",
  "ls & ls",
  "ls |& cat",
  "(ls)",
  "{ ls; }",
  "if true; then ls; fi",
  "f() { ls; }",
  "alias ls=x",
  "ls # x",
  "ls \\\n-a",
  "ls\r\nls",
  // Computed words.
  "ls $x",
  'ls "$x"',
  "ls $(x)",
  "ls `x`",
  "ls *",
  "ls a?",
  "ls [a]",
  "ls {a,b}",
  "ls <(x)",
  "ls =(x)",
  "ls $'a'",
  // Redirections that are not known.
  "cat < a",
  "cat << a",
  "cat <<< a",
  "ls 3> a",
  "ls>a",
  "ls 2>a>b",
  "ls &> a",
  "ls >| a",
  "ls >& a",
  "ls >&2",
  "ls 2>&3",
  "ls <> a",
  "> a",
  "ls; > a",
  "> a ls",
  "ls;> a",
  "ls; 2>&1 ls",
  "ls 2>&1>a",
  "ls > $x",
  "ls > env:x",
  "ls > '*'",
  // Quotes that shells read in different ways.
  "echo 'a\\'",
  "echo 'a\\' 'b; evil #'",
  "echo 'a\\\\'",
  'echo "a\\"; evil; \\"b"',
  "echo 'a!b'",
  "echo 'a\nb'",
  "echo 'a''b'",
  "echo \"a\"'b'",
  "echo 'a'b",
  "echo ‘; evil; ‘",
  'echo "a”; evil; “b"',
  "echo – a",
  "echo a\u00a0b",
  "echo 'a",
  // Options that are not listed, also as the beginning of one that is.
  "ls --recur",
  "ls --all=x",
  "ls --color",
  "ls --",
  "ls -a --unknown",
  "ls -aw5",
  "ls a -l",
  "sort -o a b",
  "sort b -o a",
  "sort -uo a",
  "sort --output=a b",
  "sort --co=./p -S1b big",
  "sort -T a",
  "sort --files0-from=a",
  "sort -k -o",
  "head -n",
  "head -n -o",
  "date -s 2020-01-01",
  "date 01010000",
  "hostname evil",
  "uniq a b",
  "ps e",
  "ps auxe",
  "ps -E",
  "ps -eo environ",
  "md5sum -c a",
  "file -C -m a",
  "tail -f a",
  "touch -r a b",
  "mkdir -m 4777 a",
  "grep -f a b",
  "printf a",
  "printenv",
  "diff a b",
  "find . -exec ls ';'",
  "find . -delete",
  "find . -fprint a",
  "find . -ok ls",
  "find . -name",
  "find -L .",
  "find . -name a b",
  "test -v a",
  "test a -f",
  // Paths that PowerShell reads in its own way.
  "cat env:x",
  "ls hkcu:",
  "cat '*'",
  "cat a,env:x",
  "ls //host/share",
  "cd env:",
])("%j is not vetted", (text) => {
  expect(isVettedCommand(text)).toBe(false);
});

test("what a vetted program is known to do is nothing, or to change the files it names", () => {
  const changing = VETTED_PROGRAMS.filter((name) => {
    const tags = [...readCommands(`${name} x`, parseScript).tags];
    // With a word hostname would set the name, and none is vetted.
    if (tags.length > 0 && name !== "hostname") expect([name, ...tags]).toEqual([name, "mutating"]);
    return tags.includes("mutating");
  });
  expect(changing).toEqual(["mkdir", "touch", "tee"]);
});

test("a line is split into the words that the parser of the gateway's shell reads", () => {
  const word = fc.constantFrom(
    ..."a -l ~/x 'a\\|b' \"a;b\" x='c' 2 '|' ä > >> 2> 2>&1 & && | ; ' \" \\ $x # ( { ! < a' a\"b = @".split(" "),
    "\n",
    "' '",
  );
  const line = fc.array(fc.tuple(word, fc.constantFrom(" ", ""))).map((parts) => `echo ${parts.flat().join("")}`);
  let split = 0;
  fc.assert(
    fc.property(line, (text) => {
      const tree = parseScript(text);
      const words = splitCommands(text);
      // Every shell refuses to run what is no script.
      if (words === null || tree === null) return;
      split++;
      const read = listWords(tree);
      if (read === null) expect(isVettedCommand(text)).toBe(false);
      else expect(words).toEqual(read);
    }),
    { numRuns: 5_000 },
  );
  expect(split).toBeGreaterThan(500);
});

/** Null if there is more than plain commands, such as an assignment. */
function listWords({ statements }: Script): string[][] | null {
  const commands = statements.flatMap(({ pipelines }) => pipelines.flatMap((pipeline) => pipeline.commands));
  const plain = commands.flatMap((command) => (command.type === "SimpleCommand" && command.assignments.length === 0 ? [command] : []));
  if (plain.length < commands.length) return null;
  // `ls |` has an empty command.
  return plain.flatMap(({ name, args }) => (name === null ? [] : [[name, ...args].map((word) => readWord(word).text!)]));
}

test("no text and no word makes it fail, or take long", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => void isVettedCommand(`echo ${text}`)));
  fc.assert(
    fc.property(
      fc.constantFrom(...VETTED_PROGRAMS, "__proto__"),
      fc.array(fc.string()),
      (name, words) => void isVettedProgram(name, words),
    ),
  );
  for (const text of [
    "'".repeat(30_000),
    "a".repeat(30_000),
    `${"a".repeat(30_000)}'`,
    "echo ".repeat(6_000),
    "'\\".repeat(15_000),
    " >".repeat(15_000),
  ])
    isVettedCommand(text);
});
