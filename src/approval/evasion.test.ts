// Runs randomly composed commands in the gateway's shell over files in memory. Whenever a file is gone afterwards, the command
// must have been tagged as deleting or opaque.

import * as fc from "fast-check";
import { Bash } from "just-bash/browser";
import { expect, test } from "vitest";
import { shellQuote } from "../lib/quote.ts";
import { readCommands } from "./commands.ts";
import { parseScript } from "./script.ts";

const LEAVES = [
  "rm x",
  "\\rm x",
  "r''m x",
  "r\\m x",
  "'rm' x",
  "$'\\x72m' x",
  "/bin/rm x",
  "command rm x",
  "env rm x",
  "env A=1 rm x",
  "timeout 5 rm x",
  "time rm x",
  "echo x | xargs rm",
  "echo x | xargs -I{} rm {}",
  "ls x | xargs -n 1 rm",
  "find . -name x -delete",
  "find . -name x -exec rm {} \\;",
  "find . -name x -exec sh -c 'rm \"$1\"' _ {} \\;",
  "c=rm; $c x",
  "c=r; ${c}m x",
  "$(echo rm) x",
  "`echo rm` x",
  'set -- rm x; "$@"',
  'a=(rm x); "${a[@]}"',
  'y=-delete; find . -name x "$y"',
  'f() { "$@"; }; f rm x',
  'f() { rm "$1"; }; f x',
  "rm ./x",
  "rm $PWD/x",
  "rm *",
  "rm {x,}",
  "echo rm x | sh",
  "sh <<< 'rm x'",
  "printf 'rm x' | bash",
  "shopt -s expand_aliases\nalias l=rm\nl x",
  "mv x y && rm y",
  "true; rm x",
  "false || rm x",
  "! rm x",
  "A=1 rm x",
  "rm -f -- x",
  "echo cm0geA== | base64 -d | sh",
  "y='rm x'; eval \"$y\"",
  "y='rm x'; $y",
  "y=m; eval r$y x",
  "y=rm; z=y; ${!z} x",
  "echo 'rm x' > s; sh s",
  "echo 'rm x' > s; . ./s",
  "unlink x",
  "rmdir d",
  "r${none}m x",
  'r"$none"m x',
  "echo ${none:-$(rm x)}",
  "read -r c <<< rm; $c x",
  "printf -v c rm; $c x",
  "xargs rm <<< x",
  "xargs -I ls ls x <<< rm",
];

const WRAPS: ((command: string) => string)[] = [
  (command) => `sh -c ${shellQuote(command)}`,
  (command) => `bash -c ${shellQuote(command)} name a b`,
  (command) => `eval ${shellQuote(command)}`,
  (command) => `env A=1 bash -c ${shellQuote(command)}`,
  (command) => `timeout 9 sh -c ${shellQuote(command)}`,
  (command) => `echo ${shellQuote(command)} | sh`,
  (command) => `xargs -I{} sh -c ${shellQuote(command)} <<< x`,
  (command) => `(${command}\n)`,
  (command) => `{ ${command}\n}`,
  (command) => `echo "$(${command}\n)"`,
  (command) => `cat <(${command}\n)`,
  (command) => `if true; then ${command}\nfi`,
  (command) => `for i in 1; do ${command}\ndone`,
  (command) => `while true; do ${command}\nbreak; done`,
  (command) => `case x in x) ${command}\n;; esac`,
  (command) => `g() { ${command}\n}; g`,
  (command) => `true && { ${command}\n}`,
  (command) => `[[ -n $(${command}\n) ]] || true`,
  (command) => `: \${none:-$(${command}\n)}`,
  (command) => `: $(( $(${command}\necho 1) + 1 ))`,
  (command) => `v=${shellQuote(command)}; eval "$v"`,
  (command) => `v=${shellQuote(command)}; sh -c "$v"`,
  (command) => `sh <<'END${command.length}'\n${command}\nEND${command.length}\n`,
  (command) => `cat <<'END${command.length}' | sh\n${command}\nEND${command.length}\n`,
  (command) => `echo before; ${command}\necho after`,
];

const command = fc
  .tuple(fc.constantFrom(...LEAVES), fc.array(fc.constantFrom(...WRAPS), { maxLength: 3 }))
  .map(([leaf, wraps]) => wraps.reduce((inner, wrap) => wrap(inner), leaf));

async function runAndCheckDeleted(script: string): Promise<boolean> {
  const bash = new Bash({ files: { "/w/x": "1", "/w/d/.keep": "" }, cwd: "/w", defenseInDepth: false });
  await bash.exec("rm d/.keep");
  await bash.exec(script);
  const { stdout } = await bash.exec("ls /w; ls -d /w/d");
  return !/^x$/m.test(stdout) || !stdout.includes("/w/d");
}

test("a command that deletes was tagged deletes or opaque", { timeout: 300_000 }, async () => {
  let deleted = 0;
  await fc.assert(
    fc.asyncProperty(command, async (script) => {
      if (!(await runAndCheckDeleted(script))) return;
      deleted++;
      const { tags } = readCommands(script, parseScript);
      expect(tags.has("deletes") || tags.has("opaque"), `${script}\n[${[...tags].join(" ")}]`).toBe(true);
    }),
    { numRuns: 400 },
  );
  // Otherwise the test would prove nothing.
  expect(deleted).toBeGreaterThan(200);
});
