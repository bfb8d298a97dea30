// The rewritten engine counts what it should, and is otherwise the same.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runScript } from "../../src/sandbox/engine.ts";
import { Instance } from "../../src/sandbox/instance.ts";
import { ENGINE_LIMITS } from "../../src/sandbox/limits.ts";
import { meterWasm } from "../../tools/meter-wasm.ts";

type Exports = {
  count: (times: number) => number;
  copy: (to: number, from: number, bytes: number) => void;
  fill: (to: number, value: number, bytes: number) => void;
  memory: WebAssembly.Memory;
  kept: WebAssembly.Global<"i32">;
  steps: WebAssembly.Global<"i32">;
};

const PAGES_MAX = 768;

const I32 = 0x7f;
const BLOCK = 0x40;
const MAGIC = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const LOCAL_GET = 0x20;

const text = (name: string) => [name.length, ...new TextEncoder().encode(name)];
const section = (id: number, ...entries: number[][]) => [id, 1 + entries.flat().length, entries.length, ...entries.flat()];
const body = (...bytes: number[]) => [bytes.length, ...bytes];
const threeLocals = [LOCAL_GET, 0, LOCAL_GET, 1, LOCAL_GET, 2];

/** `count` has operands that look like a loop; an import and a global move the numbers of what is added. */
function makeModule(...first: number[]): Uint8Array<ArrayBuffer> {
  const increment = [LOCAL_GET, 1, 0x41, 1, 0x6a, 0x22, 1];
  const loop = [0x03, BLOCK, ...increment, LOCAL_GET, 0, 0x48, 0x0d, 0, 0x0b];
  const constants = [0x41, 3, 0x1a, 0x44, 3, 3, 3, 3, 3, 3, 3, 3, 0x1a, 0x43, 3, 3, 3, 3, 0x1a];
  const table = [0x02, BLOCK, 0x02, BLOCK, LOCAL_GET, 0, 0x0e, 3, 0, 0, 1, 0, 0x0b, 0x0b];
  return new Uint8Array([
    ...MAGIC,
    ...section(1, [0x60, 1, I32, 1, I32], [0x60, 3, I32, I32, I32, 0]),
    ...section(2, [...text("env"), ...text("unused"), 0, 0]),
    ...section(3, [0], [1], [1]),
    ...section(5, [0, 1]),
    ...section(6, [I32, 1, 0x41, 7, 0x0b]),
    ...section(
      7,
      [...text("count"), 0, 1],
      [...text("copy"), 0, 2],
      [...text("fill"), 0, 3],
      [...text("memory"), 2, 0],
      [...text("kept"), 3, 0],
    ),
    ...section(
      10,
      body(1, 1, I32, ...first, ...constants, ...table, ...loop, LOCAL_GET, 1, 0x0b),
      body(0, ...threeLocals, 0xfc, 10, 0, 0, 0x0b),
      body(0, ...threeLocals, 0xfc, 11, 0, 0x0b),
    ),
  ]);
}

async function load(wasm: Uint8Array): Promise<Exports> {
  const { instance } = await WebAssembly.instantiate(new Uint8Array(wasm), { env: { unused: () => 0 } });
  return instance.exports as Exports;
}

test("a loop traps when its steps are used up, and not before", async () => {
  const { count, steps } = await load(meterWasm(makeModule()));
  expect(count(1000)).toBe(1000);
  steps.value = 10;
  expect(count(10)).toBe(10);
  expect(steps.value).toBe(0);
  steps.value = 10;
  expect(() => count(11)).toThrow(WebAssembly.RuntimeError);
  expect(steps.value).toBeLessThan(0);
  expect(() => count(1)).toThrow(WebAssembly.RuntimeError);
});

test("copies and fills are charged by their size, and still copy and fill", async () => {
  const { copy, fill, memory, steps, kept } = await load(meterWasm(makeModule()));
  const bytes = new Uint8Array(memory.buffer);
  steps.value = 100;
  fill(0, 5, 160);
  expect(steps.value).toBe(90);
  copy(1000, 0, 320);
  expect(steps.value).toBe(70);
  expect([bytes[159], bytes[160], bytes[1159], bytes[1160]]).toEqual([5, 0, 5, 0]);
  expect(() => fill(0, 1, 60_000)).toThrow(WebAssembly.RuntimeError);
  expect(bytes[0]).toBe(5);
  // Larger than a signed number: still charged, not credited.
  steps.value = 100;
  expect(() => copy(0, 0, -1)).toThrow(WebAssembly.RuntimeError);
  expect(steps.value).toBeLessThan(0);
  expect(kept.value).toBe(7);
});

test("the memory has a maximum", async () => {
  const { memory } = await load(meterWasm(makeModule()));
  memory.grow(PAGES_MAX - 1);
  expect(() => memory.grow(1)).toThrow(RangeError);
});

test("what it does not know is refused", () => {
  expect(() => meterWasm(makeModule(0xfd, 12))).toThrow("unknown instruction fd");
  expect(() => meterWasm(makeModule(0xfc, 30))).toThrow("unknown instruction fc 30");
  expect(() => meterWasm(new Uint8Array(8))).toThrow("section 2 is missing");
});

describe("the engine", () => {
  const bytes = readFileSync(fileURLToPath(new URL(import.meta.resolve("quickjs-wasi/quickjs.wasm"))));
  const plain = WebAssembly.compile(bytes);
  const metered = WebAssembly.compile(new Uint8Array(meterWasm(bytes)));

  async function run(module: Promise<WebAssembly.Module>, code: string, limits = ENGINE_LIMITS) {
    const wasm = await module;
    const options = { wasm, limits, takeInstance: () => Instance.create(wasm, limits) };
    const answer = async () => ({ kind: "value", json: '"answer"' }) as const;
    return runScript(options, { kind: "source", code, globals: { argv: ["a"], args: { n: 1 } } }, answer, new AbortController().signal);
  }

  test.for([
    "return Array.from({ length: 2000 }, (_, n) => Math.sin(n)).sort().map((x) => x.toFixed(9)).join()",
    "return [...'h\u00e9llo w\u00f6rld \ud83d\ude00'.normalize('NFD').matchAll(/\\p{L}+/gu)].map(([word]) => word.toUpperCase())",
    "return (7n ** 999n).toString(36) + new Date(86_400_000).toISOString() + JSON.stringify({ a: [1.5, null, 'x'] })",
    "const m = new Map(); for (let n = 0; n < 1e4; n++) m.set(n % 97, (m.get(n % 97) ?? 0) + n); return [...m]",
    "const u = new Float64Array(500).map((_, n) => n ** 0.5); u.copyWithin(9, 3); u.fill(1, 400); return [...u]",
    "return [argv, args, await shell('x'), await Promise.allSettled([fs.read({}), Promise.reject(1)])]",
    "class A { #x = 1; static make() { return new this() } get x() { return this.#x } }; function* g() { yield A.make().x } return [...g()]",
    "throw new TypeError('the same')",
    "const f = () => f(); f()",
    "return eval('1 +')",
  ])("computes the same: %s", async (code) => {
    const [one, other] = await Promise.all([run(plain, code), run(metered, code)]);
    expect(other).toEqual(one);
    expect(one.kind === "suspended").toBe(false);
  });

  test("what takes no turn between two polls still ends", async () => {
    const limits = { ...ENGINE_LIMITS, stepsPerSlice: 2_000_000 };
    const endless = [
      "for (;;);",
      "new Array(4e9).join('a')",
      "'ab'.repeat(4e6).indexOf('ab'.repeat(2e6) + 'c')",
      "const u = new Uint8Array(1.5e7); for (;;) u.copyWithin(1, 0)",
      "/(.*)*(.*)*(.*)*x/.test('a'.repeat(5e4))",
      "for (;;) try { for (;;); } catch {}",
    ];
    for (const code of endless)
      expect(await run(metered, code, limits)).toMatchObject({ kind: "failed", error: expect.stringContaining("Execution timed out") });
  });

  test("every wait gives a script its steps anew", async () => {
    const limits = { ...ENGINE_LIMITS, stepsPerSlice: 2_000_000 };
    const code = "for (let n = 0; n < 20; n++) { for (let m = 0; m < 5e4; m++); await shell('x') } return 'done'";
    expect(await run(metered, code, limits)).toMatchObject({ kind: "completed", json: '"done"' });
  });
});
