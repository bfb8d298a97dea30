// Which texts are parsed however long they are, and which are never parsed.

import { expect, test } from "vitest";
import { hardTexts } from "../../test/trust/approval/hard-texts.ts";
import { readCommands } from "./commands.ts";
import { countParseSteps, STEPS_MAX } from "./hardness.ts";
import { parseScript } from "./script.ts";

const CODE = `export function sum(list: readonly number[]): number {\n  // It's "quoted" \${here} and $(there), [brackets] {braces} \`and\` \\\n  return list.reduce((a, b) => a + b, 0);\n}\n`;
const ORDINARY: Record<string, string> = {
  "source code in a here-document": `cat > sum.ts <<'EOF'\n${CODE.repeat(150)}EOF\nnpm test`,
  "prose in a here-document": `cat > notes.md <<EOF\n${"Dear $USER, this is a line of plain prose (with a remark).\n".repeat(30)}EOF\n`,
  "data in quotes": `curl -d '${JSON.stringify(Array.from({ length: 400 }, (_, id) => ({ id, name: `n${id}`, tags: ["a", "b"] })))}' https://example.org`,
  "a long pipeline": `cat a.txt${' | grep -v "foo bar" | sort -u | sed s/a/b/'.repeat(60)}`,
  "a script of plain commands": Array.from({ length: 250 }, (_, at) => `cp -v src/file${at}.txt "backup/file ${at}.txt"\n`).join(""),
  "a script with loops": `set -eu\n${'for f in *.md; do\n  n=$(wc -w < "$f")\n  if [ "$n" -gt 100 ]; then echo "${f%.md}: $n $((n / 2))"; fi\ndone\n'.repeat(25)}`,
  "one command over several lines": `docker run \\\n${"  -e NAME=value \\\n".repeat(100)}  image`,
};

test.each(Object.entries(ORDINARY))("%s is parsed", (_, text) => {
  expect(countParseSteps(text)).toBeLessThanOrEqual(STEPS_MAX);
  expect(parseScript(text)).not.toBeNull();
});

test("a command after such a text is found", () => {
  const text = `${ORDINARY["source code in a here-document"]!}\nrm -r sum.ts`;
  expect(readCommands(text, parseScript).tags).toContain("deletes");
});

const ENDLESS = [
  "echo $(($+1))",
  'echo $((1"\\$"+2))',
  "$((${",
  "echo ${x:$ }",
  "echo $[$]",
  "((a[$ ]))",
  "echo ${a[",
  "echo $\\\n{a[",
  "echo `$\\\\\n{a[`",
  "echo ${!?[ x",
  'echo $"((!$"f',
  'echo $"{a["f',
  "echo $(())#${x:$ }",
  "echo \\;#${x:$ }",
  "cat <<E\n${a[\nE\n",
  '"${[[ {"',
  "}${#@[,",
  "}${#?[!",
  "<(}${!?[[ [[ ",
  "x=(}${!#[-$($(2#",
  // These look like comments or quotes, but not to the parser.
  "echo \\;#$(($+1))",
  "echo a\\ #$(($+1))",
  "echo $(a)#$(($+1))",
  "\\ \\\n #$(($+1))\n",
  "$\"q\"'$(($+1))'",
  "x=($'$(($+1))'))",
  "!=#$#<<'E'\n$(($+1))\nE\n",
];

test.each(ENDLESS)("%s is never parsed: the parser would not terminate", (text) => {
  const parsed: string[] = [];
  const { tags } = readCommands(text, (input) => (parsed.push(input), null));
  expect([...tags]).toContain("opaque");
  expect(parsed).toEqual([]);
});

test("nested texts share one budget", () => {
  const half = "a;".repeat(1000);
  expect(countParseSteps(half)).toBeLessThan(STEPS_MAX);
  expect(countParseSteps(half)).toBeGreaterThan(STEPS_MAX / 3);
  const parsed: string[] = [];
  readCommands(`sh -c '${half}'; sh -c 'b;${half}'; sh -c 'c;${half}'`, (input) => (parsed.push(input), parseScript(input)));
  expect(parsed.length).toBeLessThan(4);
});

test("a text that is too hard is tagged only opaque and compound", () => {
  for (const { text } of hardTexts().filter(({ text }) => countParseSteps(text) > STEPS_MAX))
    expect([...readCommands(text, () => expect.unreachable()).tags].toSorted()).toEqual(["compound", "opaque"]);
});
