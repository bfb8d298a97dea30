// What is told to write to the terminal, and that a script does not notice.

import { Bash, InMemoryFs } from "just-bash/browser";
import { describe, expect, test } from "vitest";
import { onTerminal, TERMINAL, TERMINAL_ERRORS } from "../../src/shell/terminal.ts";
import { snippets } from "./corpus.ts";

type Written = { stdout: string; stderr: string; exitCode: number; times: number };

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

async function run(script: string, files: Readonly<Record<string, string>>, isTold: boolean): Promise<Written> {
  const screen = new Screen(Object.fromEntries([["/w/.keep", ""], ...Object.entries(files).map(([path, text]) => [`/w/${path}`, text])]));
  const bash = new Bash({ fs: screen, cwd: "/w", defenseInDepth: false });
  if (isTold) bash.registerTransformPlugin(onTerminal());
  const env = { HOME: "/w", PATH: "/usr/bin:/bin", PWD: "/w" };
  const { stdout, stderr, exitCode } = await bash.exec(script, { env, replaceEnv: true, cwd: "/w", rawScript: true });
  return { stdout: screen.stdout + stdout, stderr: screen.stderr + stderr, exitCode, times: screen.times };
}

describe("a script that writes to the terminal by itself", () => {
  // Its output is the shell's process id, or its time.
  const all = snippets().filter(({ name }) => !["shuf keeps lines", "mktemp"].includes(name));
  test.each(all)("puts out the same: $name", async ({ script, files }) => {
    const [plain, told] = [await run(script, files, false), await run(script, files, true)];
    expect({ stdout: told.stdout, exitCode: told.exitCode }).toEqual({ stdout: plain.stdout, exitCode: plain.exitCode });
  });
});

const told = async (script: string) => (await run(script, {}, true)).times;

test("each statement writes when it is done, and the last with the end", async () => {
  expect(await told("echo a; echo b; echo c")).toBe(2);
  expect(await told("for i in 1 2 3; do echo $i; done")).toBe(3);
  expect(await told("if true; then echo a; echo b; fi; true")).toBe(2);
  expect(await told("echo a && echo b; true")).toBe(2);
  expect(await told("ls nothing; true")).toBe(1);
});

test("what is piped, redirected, captured or in a shell of its own does not", async () => {
  expect(await told("{ echo a; echo b; } | cat; true")).toBe(1);
  expect(await told("for i in 1 2; do echo $i; done > f; true")).toBe(0);
  expect(await told("x=$(echo a; echo b); true")).toBe(0);
  expect(await told("bash -c 'echo a; echo b' | cat; true")).toBe(1);
  expect(await told("f() { echo a; echo b; }; f | cat; true")).toBe(1);
  expect(await told("exec > f; echo a; echo b")).toBe(0);
});
