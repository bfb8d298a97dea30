import { beforeAll, describe, expect, test } from "vitest";
import { compileEngine } from "../../test/support/sandbox.ts";
import {
  INTERRUPTED,
  type NumberedAnswer,
  type ScriptAnswer,
  type ScriptCall,
  type ScriptEnd,
  type ScriptGlobals,
  type ScriptStart,
} from "../ports/sandbox.ts";
import { runScript } from "./engine.ts";
import { Instance } from "./instance.ts";
import { CALLS, CALLS_AT_ONCE, ENGINE_LIMITS, ERROR_CHARS, LOG_CHARS, LOG_LINES, SOURCE_CHARS, TIMERS, VALUE_CHARS } from "./limits.ts";

/** The result stands for what the script said itself; `calls` are those that reached the link. */
type Run = { end: ScriptEnd; calls: ScriptCall[] };
type Options = {
  answer?: (call: ScriptCall) => ScriptAnswer | Promise<ScriptAnswer>;
  globals?: Partial<ScriptGlobals>;
  limits?: Partial<typeof ENGINE_LIMITS>;
  signal?: AbortSignal;
};

let wasm: WebAssembly.Module;
beforeAll(async () => void (wasm = await compileEngine()));

const OK: ScriptAnswer = { kind: "value", json: '{"ok":true}' };

function run(code: string, { globals = {}, ...options }: Options = {}): Promise<Run> {
  return begin({ kind: "source", code, globals: { argv: [], args: null, ...globals } }, options);
}

async function begin(start: ScriptStart, { answer = () => OK, limits, signal }: Options = {}): Promise<Run> {
  const calls: ScriptCall[] = [];
  const link = async (call: ScriptCall) => {
    calls.push(call);
    return answer(call);
  };
  const all = { ...ENGINE_LIMITS, ...limits };
  const options = { wasm, limits: all, takeInstance: () => Instance.create(wasm, all) };
  return { end: await runScript(options, start, link, signal ?? new AbortController().signal), calls };
}

/** The result of a script that completes. */
async function resultOf(code: string, options: Options = {}): Promise<unknown> {
  const { end } = await run(code, options);
  if (end.kind !== "completed") throw new Error(`${code}: ${JSON.stringify(end)}`);
  return JSON.parse(end.json) as unknown;
}

async function errorOf(code: string, options: Options = {}): Promise<string> {
  const { end } = await run(code, options);
  if (end.kind !== "failed") throw new Error(`${code}: ${JSON.stringify(end).slice(0, 300)}`);
  return end.error;
}

async function argsOf(code: string, globals: Partial<ScriptGlobals> = {}): Promise<unknown> {
  const { end, calls } = await run(code, { globals });
  if (end.kind !== "completed" || calls.length !== 1) throw new Error(`${code}: ${JSON.stringify({ end, calls })}`);
  return JSON.parse(calls[0]!.args) as unknown;
}

describe("results", () => {
  test.for<[string, unknown]>([
    ["return { a: [1, 'x', null] }", { a: [1, "x", null] }],
    ["", undefined],
    ["return undefined", null],
    ["return () => 1", null],
    ["return NaN", null],
    ["return '\\ud800\\u0000é😀'", "\ud800\u0000é😀"],
    ["return new Date(0)", "1970-01-01T00:00:00.000Z"],
    ["return new Date(0).getTimezoneOffset()", 0],
    ["async () => 1", 1],
    ["() => 2;", 2],
    ["async function main() { return 3 }", 3],
    ["function () { return 4 }", 4],
    ["x => 5", 5],
    ["export default async () => 6", 6],
    ["```js\nreturn 7\n```", 7],
    ["```typescript\nasync () => {\n  return 8;\n}\n```", 8],
    ["return 9 // last", 9],
    ["function double(x) { return x * 2 }\nreturn double(5)", 10],
    ["const f = () => 11;\nreturn f()", 11],
    ["\ufeff\u001b[1mreturn 12\u001b[0m", 12],
    ["return await Promise.resolve(13)", 13],
  ])("%j", async ([code, wanted]) => {
    if (code === "") expect(await errorOf(code)).toBe("codemode requires a non-empty code string");
    else expect(await resultOf(code)).toEqual(wanted);
  });

  test("a result that has no JSON says so", async () => {
    expect(await errorOf("return 1n")).toContain("The result cannot be written as JSON: ");
    expect(await errorOf("const a = {}; a.a = a; return a")).toContain("The result cannot be written as JSON: ");
  });
});

describe("errors", () => {
  test("a thrown error has its message, and a stack in the lines of the source", async () => {
    const { end } = await run("const a = 1;\nfunction inner() {\n  throw new RangeError('no');\n}\ninner();");
    expect(end).toMatchObject({ kind: "failed", error: "no" });
    expect((end as { stack: string }).stack).toMatch(/^RangeError: no\n {4}at inner \(script\.js:3:\d+\)\n {4}at script\.js:5:\d+$/);
  });

  test("columns of the first line are those of the source", async () => {
    const { end } = await run("  throw new Error('first')");
    // Without the spaces in front, which are trimmed.
    expect((end as { stack: string }).stack).toBe("Error: first\n    at script.js:1:11");
  });

  test("the error of a call points to the line that made it", async () => {
    const { end } = await run("const x = 1;\nawait fs.read({ path: '/none' });", {
      answer: () => ({ kind: "error", message: "No such file" }),
    });
    expect(end).toMatchObject({ kind: "failed", error: "No such file" });
    expect((end as { stack: string }).stack).toMatch(/^Error: No such file\n {4}at script\.js:2:\d+$/);
  });

  test.for<[string, string | RegExp]>([
    ["const a = 1;\nconst b = ;", /^SyntaxError: .+ \(script\.js:2:\d+\)$/],
    ["throw 'text'", "text"],
    ["throw { code: 5 }", '{"code":5}'],
    ["throw undefined", "undefined"],
    ["throw { get message() { throw 1 } }", /./],
    ["throw { message: 5 }", '{"message":5}'],
    ["throw Object.assign(new Error('a'), { name: { toString() { throw 1 } } })", /./],
    // Its message is a text only when it is read first.
    ["let n = 0; throw { name: 'E', get message() { return n++ === 0 ? 'first' : {} } }", "first"],
    ["Promise.reject(new Error('unawaited')); await new Promise(() => {})", "The script waits for a promise that nothing can resolve"],
  ])("%s", async ([code, wanted]) => {
    if (typeof wanted === "string") expect(await errorOf(code)).toBe(wanted);
    else expect(await errorOf(code)).toMatch(wanted);
  });

  test("messages and stacks have a limit", async () => {
    const { end } = await run("throw Object.assign(new Error('x'.repeat(1e6)), { name: 'n'.repeat(1e6), stack: '\\n'.repeat(1e6) })");
    expect(end.kind === "failed" && end.error.length).toBe(ERROR_CHARS);
    expect(JSON.stringify(end).length).toBeLessThan(3 * ERROR_CHARS);
  });
});

describe("the console", () => {
  test("prefixes lines, and shows values as JSON", async () => {
    const { end } = await run(
      "console.log('a', 1, { b: 2 }); console.info(null); console.debug(undefined); console.warn('w'); console.error(new TypeError('e'))",
    );
    expect(end).toMatchObject({ logs: ['a 1 {"b":2}', "null", "undefined", "[warn] w", "[error] TypeError: e"] });
  });

  test("shows what cannot be shown", async () => {
    const { end } = await run("const o = { toJSON() { throw 1 }, toString() { throw 2 } }; console.log(o, () => 1, Symbol('s'), 2n)");
    expect(end).toMatchObject({ logs: ["[a value that cannot be shown] () => 1 Symbol(s) 2"] });
  });

  test("has a limit of lines, and one of characters", async () => {
    const { end: many } = await run(`for (let n = 0; n < ${LOG_LINES + 5}; n++) console.log(n)`);
    expect(many.kind === "completed" && [many.logs.length, many.logs.at(-1)]).toEqual([LOG_LINES + 1, "[warn] 5 more lines were left out"]);
    const { end: long } = await run(`console.log("\\u0001".repeat(${LOG_CHARS})); console.log("x")`);
    expect(long).toMatchObject({ kind: "completed", logs: ["\u0001".repeat(LOG_CHARS), "[warn] 1 more lines were left out"] });
  });

  test("logs arrive with errors", async () => {
    expect((await run("console.log('before'); throw new Error('e')")).end).toMatchObject({ kind: "failed", logs: ["before"] });
  });
});

describe("globals and defaults", () => {
  test("argv, args and mcpTools", async () => {
    const globals = { argv: ["a", "b"], args: { __proto__: null, n: 1 } };
    expect(await resultOf("return [argv, args, mcpTools]", { globals })).toEqual([["a", "b"], { n: 1 }, []]);
    expect(await errorOf("'use strict'; argv.push('c')", { globals })).not.toBe("");
    expect(await resultOf("return args")).toBe(null);
  });

  test.for<[string, Partial<ScriptGlobals>, unknown]>([
    ["await shell('ls')", {}, { input: "ls" }],
    ["await shell('ls')", { target: "d1", cwd: "/w" }, { input: "ls", target: "d1", cwd: "/w" }],
    ["await shell('ls', { target: 'gsv', cwd: '/x' })", { target: "d1", cwd: "/w" }, { input: "ls", target: "gsv", cwd: "/x" }],
    ["await shell('', { sessionId: 's' })", { target: "d1", cwd: "/w" }, { input: "", sessionId: "s" }],
    ["await shell()", {}, { input: "" }],
    // The directory is one of the default target.
    ["await shell('ls', { target: 'd2' })", { target: "d1", cwd: "/w" }, { input: "ls", target: "d2" }],
    ["await fs.read({ target: 'd2', path: 'a' })", { cwd: "/w" }, { target: "d2", path: "a" }],
    ["await fs.read({ target: 'gsv', path: 'a' })", { cwd: "/w" }, { target: "gsv", path: "/w/a" }],
    ["await fs.read({ path: 'a.txt' })", { cwd: "/w" }, { path: "/w/a.txt" }],
    ["await fs.read({ path: 'a.txt' })", { cwd: "/w/" }, { path: "/w/a.txt" }],
    ["await fs.read({ path: '/a.txt' })", { cwd: "/w" }, { path: "/a.txt" }],
    ["await fs.read({ path: '~/a.txt' })", { cwd: "/w" }, { path: "~/a.txt" }],
    ["await fs.read({ path: 'a.txt' })", { cwd: "C:\\work\\" }, { path: "C:\\work\\a.txt" }],
    ["await fs.read({ path: 'D:\\\\a.txt' })", { cwd: "C:\\work" }, { path: "D:\\a.txt" }],
    ["await fs.read({ path: 'd:a.txt' })", { cwd: "C:\\work" }, { path: "d:a.txt" }],
    ["await fs.read({ path: '\\\\\\\\host\\\\share' })", { cwd: "C:\\work" }, { path: "\\\\host\\share" }],
    ["await fs.search({ query: 'x' })", { cwd: "/w", target: "d1" }, { query: "x", target: "d1", path: "/w" }],
    ["await fs.write({ path: 'a', content: 'c' })", {}, { path: "a", content: "c" }],
  ])("%s with %j", async ([code, globals, wanted]) => {
    expect(await argsOf(code, globals)).toEqual(wanted);
  });

  test("calls without an object are refused in the script", async () => {
    expect(await errorOf("await fs.read('/a')")).toBe("fs.read takes an object, such as { path }");
    expect(await errorOf("await shell('ls', 'gsv')")).toContain("options must be an object");
  });

  test("answers are values, and undefined where they are empty", async () => {
    expect(await resultOf("return await fs.read({ path: 'a' })")).toEqual({ ok: true });
    expect(await resultOf("return typeof await fs.read({ path: 'a' })", { answer: () => ({ kind: "value", json: "" }) })).toBe("undefined");
  });
});

describe("limits", () => {
  test("of the source", async () => {
    expect(await errorOf(" ".repeat(SOURCE_CHARS) + "x")).toContain("x is not defined");
    expect(await errorOf("//" + "x".repeat(SOURCE_CHARS))).toBe(`The script is longer than ${SOURCE_CHARS} characters`);
  });

  test("of the result", async () => {
    expect(await resultOf(`return "x".repeat(${VALUE_CHARS - 2})`)).toHaveLength(VALUE_CHARS - 2);
    expect(await errorOf(`return "x".repeat(${VALUE_CHARS - 1})`)).toBe(`The result is longer than ${VALUE_CHARS} characters: return less`);
    expect(await errorOf("let a = []; for (let n = 0; n < 99; n++) a = [a]; return a")).toContain("The result is too large");
    expect(await errorOf("return Array.from({ length: 3e5 }, () => [])")).toContain("The result is too large");
  });

  test("of the arguments of a call", async () => {
    const { end, calls } = await run(`return fs.write({ path: "a", content: "x".repeat(${VALUE_CHARS}) }).catch((error) => error.message)`);
    expect(end).toMatchObject({ json: JSON.stringify(`The arguments of fs.write are too large: more than ${VALUE_CHARS} characters`) });
    expect(calls).toEqual([]);
    expect(await errorOf("let a = []; for (let n = 0; n < 99; n++) a = [a]; await fs.read({ path: a })")).toContain("too large");
  });

  test("of the arguments of all calls that wait", async () => {
    const code = `const content = "x".repeat(1e6), all = [];
      for (let n = 0; n < 12; n++) all.push(fs.write({ path: "a", content }).then(() => true, () => false));
      const first = await Promise.all(all);
      return [first.filter(Boolean).length, await fs.write({ path: "a", content })]`;
    expect(await resultOf(code)).toEqual([8, { ok: true }]);
  });

  test("of the number of calls, refused or not", async () => {
    const code = `for (let n = 0; n < ${CALLS}; n++) await fs.read({ path: "a" }).catch(() => {}); await fs.read({ path: "last" })`;
    const { end, calls } = await run(code);
    expect(end).toMatchObject({ kind: "failed", error: `A script may make at most ${CALLS} calls` });
    expect(calls).toHaveLength(CALLS);
  });

  test("of calls at a time", async () => {
    let open = 0;
    let most = 0;
    const answer = async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setImmediate(resolve));
      open--;
      return OK;
    };
    await resultOf("await Promise.all(Array.from({ length: 50 }, () => fs.read({ path: 'a' })))", { answer });
    expect(most).toBe(CALLS_AT_ONCE);
  });

  test("of timers", async () => {
    const code = `let fired = 0; for (let n = 0; n < ${TIMERS}; n++) setTimeout(() => fired++, 0);
      let refusal; try { setTimeout(() => {}, 0) } catch (error) { refusal = error.message }
      await new Promise((resolve) => { const look = () => fired === ${TIMERS} ? resolve() : fs.read({}).then(look); look() });
      setTimeout(() => {}, 0); return refusal`;
    const answer = () => new Promise<ScriptAnswer>((resolve) => setTimeout(() => resolve(OK), 5));
    expect(await resultOf(code, { answer })).toBe(`A script may have at most ${TIMERS} timers at a time`);
  });

  test("of memory", async () => {
    for (const code of [
      "const a = []; for (;;) a.push(new Uint8Array(1e6))",
      "const a = []; for (;;) a.push({})",
      "let s = 'ab'; for (;;) s += s",
    ])
      expect(await errorOf(code)).toMatch(/out of memory|string too long/);
  });

  test("a script that imports is told that it cannot", async () => {
    expect(await errorOf('import { readFile } from "node:fs";\nreturn 1')).toMatch(
      /^SyntaxError: .*\(script\.js:1:.*A script cannot import/,
    );
    expect(await errorOf("const x = ;")).not.toContain("import");
  });

  test("of recursion", async () => {
    expect(await errorOf("const f = () => f(); f()")).toMatch(/stack|recurses/);
    expect(await errorOf("JSON.parse('['.repeat(1e6))")).toMatch(/stack|recurses/);
    expect(await errorOf("eval('('.repeat(1e5))")).toMatch(/stack|recurses/);
    expect(await resultOf("try { (function f() { f() })() } catch (error) { return error instanceof RangeError }")).toBe(true);
  });

  test.for([
    "for (;;);",
    "await null; for (;;);",
    "for (;;) try { for (;;); } catch {} finally { continue }",
    "for (;;) new Promise(() => {})",
    "for (;;) new Promise(() => { for (;;); })",
    "await fs.read({}); for (;;);",
    "const f = () => Promise.resolve().then(f); f(); await new Promise(() => {})",
    "/^(a+)+$/.test('a'.repeat(50) + 'b')",
    "function* g() { for (;;) yield } for (const _ of g());",
    "const o = { toJSON() { for (;;); } }; return o",
    "throw { get message() { for (;;); } }",
    "const p = { then() { for (;;); } }; await p",
  ])("of computing: %s", async (code) => {
    expect(await errorOf(code, { limits: { cpuMs: 50 } })).toBe("Execution timed out: the script computed for more than 0.05 s");
  });

  test("of time: a script that waits is ended", async () => {
    expect(await errorOf("await fs.read({})", { limits: { wallMs: 20 }, answer: () => new Promise(() => {}) })).toBe("Execution timed out");
    expect(await errorOf("await new Promise((r) => setTimeout(r, 1e9))", { limits: { wallMs: 20 } })).toBe("Execution timed out");
  });
});

describe("waiting", () => {
  test("a call that nobody awaits is made before the script ends", async () => {
    const { end, calls } = await run("fs.write({ path: 'a' }); shell('b'); return 1");
    expect(end).toEqual({ kind: "completed", json: "1", logs: [] });
    expect(calls.map(({ call }) => call)).toEqual(["fs.write", "shell.exec"]);
  });

  test("a script that throws does not wait for its calls", async () => {
    const { end } = await run("fs.write({ path: 'a' }); throw new Error('e')", { answer: () => new Promise(() => {}) });
    expect(end).toMatchObject({ kind: "failed", error: "e", logs: ["[warn] The script ended before a call had an answer"] });
  });

  test("a promise that nobody resolves ends the script", async () => {
    expect(await errorOf("await new Promise(() => {})")).toBe("The script waits for a promise that nothing can resolve");
  });

  test("timers fire in order, with arguments, unless they are cleared", async () => {
    const code = `const seen = []; setTimeout((x) => seen.push(x), 20, "late"); setTimeout((x) => seen.push(x), 0, "soon");
      clearTimeout(setTimeout(() => seen.push("never"), 1)); setTimeout(() => { throw new Error("inside") });
      await new Promise((resolve) => setTimeout(resolve, 40)); return seen`;
    const { end } = await run(code);
    expect(end).toEqual({ kind: "completed", json: '["soon","late"]', logs: ["[error] Uncaught Error: inside"] });
    expect(await errorOf("setTimeout('code')")).toBe("setTimeout takes a function");
  });

  test("an abort ends a script that waits, and one that has not begun", async () => {
    const over = new AbortController();
    const answer = () => {
      over.abort();
      return new Promise<ScriptAnswer>(() => {});
    };
    expect(await errorOf("await fs.read({})", { signal: over.signal, answer })).toBe(INTERRUPTED);
    const { end, calls } = await run("await fs.read({})", { signal: AbortSignal.abort() });
    expect([end, calls]).toEqual([{ kind: "failed", error: INTERRUPTED, stack: "", logs: [] }, []]);
  });

  test("one call is answered while others wait", async () => {
    const answer = async ({ args }: ScriptCall): Promise<ScriptAnswer> =>
      args.includes("never") ? new Promise(() => {}) : { kind: "value", json: "2" };
    const { end } = await run(
      "return Promise.race([fs.read({ path: 'never' }), fs.read({ path: 'now' }).then((two) => { throw new Error(two) })])",
      { answer },
    );
    expect(end).toMatchObject({ kind: "failed", error: "2" });
  });
});

describe("built-ins that a script replaces", () => {
  const REPLACE: [string, string][] = [
    ["Promise", "globalThis.Promise = function () { throw 1 }; Promise.prototype = null"],
    ["then", "Promise.prototype.then = function () { throw 1 }; Promise.prototype.catch = Promise.prototype.then"],
    ["the constructor of promises", "Object.defineProperty(Promise.prototype, 'constructor', { get() { return Object } })"],
    ["JSON", "JSON.parse = JSON.stringify = () => { throw 1 }; globalThis.JSON = null"],
    [
      "Object",
      "for (const name of Object.getOwnPropertyNames(Object)) try { Object[name] = () => { throw 1 } } catch {} globalThis.Object = null",
    ],
    ["Array", "globalThis.Array = null; Array.isArray = () => false"],
    ["Error", "globalThis.Error = globalThis.TypeError = null"],
    ["String", "String.prototype.slice = String.prototype.toString = () => { throw 1 }; globalThis.String = null"],
    ["call", "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 }"],
    ["toJSON of objects", "Object.prototype.toJSON = undefined; Object.defineProperty(Array.prototype, 'toJSON', { value: undefined })"],
    ["get", "Object.prototype.get = Object.prototype.value = Object.prototype.set = 1"],
  ];
  test.for(REPLACE)("%s", async ([, replace]) => {
    const code = `try { ${replace} } catch {} console.log("a"); console.warn("b"); const got = await fs.read({ path: "x" }); return got`;
    const { end, calls } = await run(code, { globals: { cwd: "/w" } });
    expect(end).toEqual({ kind: "completed", json: '{"ok":true}', logs: ["a", "[warn] b"] });
    expect(calls).toEqual([{ number: 1, call: "fs.read", args: '{"path":"/w/x"}' }]);
  });

  test("setters of arrays, which the engine itself uses, end no more than the script", async () => {
    const { end } = await run("for (const at of [0, 1, 2]) Object.defineProperty(Array.prototype, at, { set() { throw 1 } }); return 1");
    expect(end).toMatchObject({ kind: "failed", logs: [] });
  });

  test("toJSON of every object changes neither the report nor the logs", async () => {
    const { end } = await run(
      "Object.prototype.toJSON = Array.prototype.toJSON = () => ({ isOk: 5, logs: 5 }); console.log('a'); return 1",
    );
    expect(end).toEqual({ kind: "completed", json: "1", logs: ["a"] });
  });

  test("a stack trace has no functions of the prelude or the host", async () => {
    const code = `const seen = []; Error.prepareStackTrace = (_, sites) => sites.forEach((site) => seen.push(site.getFunction()));
      await fs.read({ toJSON() { void new Error().stack; Error.captureStackTrace({}); return {} } }); return seen`;
    expect(await resultOf(code)).toEqual([]);
  });

  test("what a call says is JSON, whatever its arguments are", async () => {
    const odd = [
      "toJSON() { return undefined }",
      "toJSON() { return 'text' }",
      "toJSON() { return 5 }",
      "__proto__: null",
      "['__proto__']: { x: 1 }",
    ];
    for (const property of odd) {
      const { calls } = await run(`await fs.read({ ${property} })`);
      expect(() => void JSON.parse(calls[0]!.args)).not.toThrow();
    }
    expect(await errorOf("await fs.read({ toJSON() { throw new Error('mine') } })")).toBe("mine");
  });
});

describe("suspending", () => {
  const CODE = `let n = 1; const kept = new Map([["a", { deep: [n] }]]); console.log("before");
    const add = (x) => { n += x; return n };
    const [one, two] = await Promise.all([fs.read({ path: "1" }), fs.read({ path: "2" })]);
    add(10); console.log("after");
    const three = await fs.read({ path: "3" });
    return { n, one, two, three, kept: [...kept] }`;
  const suspend = (): ScriptAnswer => ({ kind: "suspended" });

  async function suspended(code: string): Promise<Extract<ScriptEnd, { kind: "suspended" }>> {
    const { end } = await run(code, { answer: suspend });
    if (end.kind !== "suspended") throw new Error(JSON.stringify(end));
    return end;
  }

  /** Continues with the answer to one call. */
  function resume(
    end: ScriptEnd,
    number: number,
    answer: NumberedAnswer["answer"],
    options: Options & { open?: number } = {},
  ): Promise<Run> {
    if (end.kind !== "suspended") throw new Error(JSON.stringify(end));
    const { snapshot, used } = end;
    return begin({ kind: "snapshot", snapshot, used, answers: [{ number, answer }], suspended: options.open ?? 0 }, options);
  }

  test("a script continues with its variables", async () => {
    const first = await run(CODE, { answer: suspend });
    expect(first.calls.map(({ number }) => number)).toEqual([1, 2]);
    const second = await resume(first.end, 2, { kind: "value", json: '"two"' }, { answer: suspend, open: 1 });
    expect(second).toMatchObject({ calls: [], end: { kind: "suspended" } });
    const third = await resume(second.end, 1, { kind: "value", json: '"one"' }, { answer: () => ({ kind: "value", json: '"three"' }) });
    expect(third.calls).toEqual([{ number: 3, call: "fs.read", args: '{"path":"3"}' }]);
    const result = { n: 11, one: "one", two: "two", three: "three", kept: [["a", { deep: [1] }]] };
    expect(third.end).toEqual({ kind: "completed", json: JSON.stringify(result), logs: ["before", "after"] });
  });

  test("an error after it was suspended has lines of the source", async () => {
    const end = await suspended("const a = 1;\nawait shell('x');\nthrow new Error('late');");
    const again = await resume(end, 1, { kind: "error", message: "Denied" });
    expect(again.end).toMatchObject({ kind: "failed", error: "Denied", stack: expect.stringMatching(/at script\.js:2:\d+$/) });
  });

  test("a snapshot can be continued more than once, and runs do not share it", async () => {
    const end = await suspended("let n = 0; await shell('x'); n++; return n");
    for (let at = 0; at < 2; at++) expect((await resume(end, 1, OK)).end).toMatchObject({ kind: "completed", json: "1" });
  });

  test("an answer to another call is ignored", async () => {
    const end = await suspended("return await shell('x')");
    for (const number of [0, 2, -1, 1e9]) expect((await resume(end, number, OK, { open: 1 })).end.kind).toBe("suspended");
  });

  test("time and computing before it was suspended count", async () => {
    const end = await suspended("await shell('x'); for (;;);");
    const spent = { ...end, used: { wallMs: 0, cpuMs: ENGINE_LIMITS.cpuMs } };
    expect((await resume(spent, 1, OK)).end).toMatchObject({ kind: "failed", error: expect.stringContaining("computed for more than") });
    const late = { ...(await suspended("await shell('x'); await shell('y')")), used: { wallMs: ENGINE_LIMITS.wallMs, cpuMs: 0 } };
    expect((await resume(late, 1, OK, { answer: () => new Promise(() => {}) })).end).toMatchObject({ error: "Execution timed out" });
  });

  test("other bytes are no snapshot", async () => {
    const { snapshot, used } = await suspended("await shell('x')");
    const damaged = [
      new Uint8Array(0),
      new Uint8Array(7),
      new Uint8Array(1000).fill(7),
      snapshot.subarray(0, snapshot.length >> 1),
      snapshot.map((byte, at) => (at > 8 && at < 40 ? byte ^ 0x55 : byte)),
    ];
    for (const bytes of damaged) {
      const { end } = await begin({ kind: "snapshot", snapshot: bytes, used, answers: [], suspended: 1 });
      expect(end).toEqual({ kind: "failed", error: INTERRUPTED, stack: "", logs: [] });
    }
  });
});
