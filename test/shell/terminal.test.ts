// Which statements write to the terminal themselves, and that this does not change what a script prints.

import { Bash, InMemoryFs } from "just-bash/browser";
import { describe, expect, test } from "vitest";
import { makeTerminalPlugin, TERMINAL, TERMINAL_ERRORS } from "../../src/shell/terminal.ts";
import { snippets } from "./corpus.ts";

type Output = { stdout: string; stderr: string; exitCode: number; times: number };

class Screen extends InMemoryFs {
  stdout = "";
  stderr = "";
  times = 0;

  override async writeFile(...[path, content, options]: Parameters<InMemoryFs["writeFile"]>): Promise<void> {
    if (path !== TERMINAL && path !== TERMINAL_ERRORS) return super.writeFile(path, content, options);
    this.#show(path, content, options);
  }

  override async appendFile(...[path, content, options]: Parameters<InMemoryFs["appendFile"]>): Promise<void> {
    if (path !== TERMINAL && path !== TERMINAL_ERRORS) return super.appendFile(path, content, options);
    this.#show(path, content, options);
  }

  #show(path: string, content: string | Uint8Array, options: unknown): void {
    const encoding = typeof options === "string" ? options : (options as { encoding?: string } | undefined)?.encoding;
    const isBytes = encoding === "binary" || encoding === "latin1";
    const bytes = typeof content !== "string" ? content : isBytes ? Uint8Array.from(content, (one) => one.charCodeAt(0)) : null;
    const text = bytes === null ? (content as string) : new TextDecoder().decode(bytes);
    if (text !== "") this.times++;
    this[path === TERMINAL ? "stdout" : "stderr"] += text;
  }
}

async function run(script: string, files: Readonly<Record<string, string>>, isRewritten: boolean): Promise<Output> {
  const screen = new Screen(Object.fromEntries([["/w/.keep", ""], ...Object.entries(files).map(([path, text]) => [`/w/${path}`, text])]));
  const bash = new Bash({ fs: screen, cwd: "/w", defenseInDepth: false });
  if (isRewritten) bash.registerTransformPlugin(makeTerminalPlugin());
  const env = { HOME: "/w", PATH: "/usr/bin:/bin", PWD: "/w" };
  const { stdout, stderr, exitCode } = await bash.exec(script, { env, replaceEnv: true, cwd: "/w", rawScript: true });
  return { stdout: screen.stdout + stdout, stderr: screen.stderr + stderr, exitCode, times: screen.times };
}

describe("a script that is rewritten to write to the terminal", () => {
  // These two use a random order or random names.
  const all = snippets().filter(({ name }) => !["shuf keeps lines", "mktemp"].includes(name));
  test.each(all)("prints the same: $name", async ({ script, files }) => {
    const [plain, rewritten] = [await run(script, files, false), await run(script, files, true)];
    expect({ stdout: rewritten.stdout, exitCode: rewritten.exitCode }).toEqual({ stdout: plain.stdout, exitCode: plain.exitCode });
  });
});

const countWrites = async (script: string) => (await run(script, {}, true)).times;

test("each statement writes when it ends, and a simple last statement with the result", async () => {
  expect(await countWrites("echo a; echo b; echo c")).toBe(2);
  expect(await countWrites("for i in 1 2 3; do echo $i; done")).toBe(3);
  expect(await countWrites("if true; then echo a; echo b; fi; true")).toBe(2);
  expect(await countWrites("echo a && echo b; true")).toBe(2);
  expect(await countWrites("ls nothing; true")).toBe(1);
});

test("commands that are piped, redirected, captured or in a shell of their own do not write to the terminal", async () => {
  expect(await countWrites("{ echo a; echo b; } | cat; true")).toBe(1);
  expect(await countWrites("for i in 1 2; do echo $i; done > f; true")).toBe(0);
  expect(await countWrites("x=$(echo a; echo b); true")).toBe(0);
  expect(await countWrites("bash -c 'echo a; echo b' | cat; true")).toBe(1);
  expect(await countWrites("f() { echo a; echo b; }; f | cat; true")).toBe(1);
  expect(await countWrites("exec > f; echo a; echo b")).toBe(0);
});
