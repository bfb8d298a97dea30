// Scripts that try to leave the sandbox. Data only; sandbox.ts runs them. A script that gets out calls `escaped` with what it found.

/** `calls`: the names of the calls that may arrive, in order; none unless given. */
export type Escape = { name: string; code: string; calls?: readonly string[] };

/** Runs before each attempt. `look` reports what a host's global object has. */
export const TOOLS = `const log = console.log;
const escaped = (what) => { log("ESCAPED " + what); };
const HOST = ["process", "require", "module", "Buffer", "setImmediate", "setInterval", "fetch", "WebSocket", "XMLHttpRequest", "EventSource",
  "navigator", "caches", "Worker", "MessageChannel", "BroadcastChannel", "WebAssembly", "Atomics", "structuredClone", "importScripts",
  "std", "os", "bjson", "scriptArgs", "print", "gc", "Deno", "Bun", "crypto", "location", "document", "global", "hostCall", "hostEnd"];
const look = (object) => {
  if (object === null || (typeof object !== "object" && typeof object !== "function")) return;
  for (const name of HOST) if (object[name] !== undefined) escaped(name);
};
const attempt = (run) => { try { return run(); } catch {} };
`;

/** In this process's environment and in a script of another user. */
export const CANARY = "CANARY-7d1f";

/** What a script finds of an earlier one; the same for each script. */
export const VISIBLE = `const kinds = [Object, Array, Function, Promise, String, Number, Error, RegExp, Map, JSON, fs, shell, console, globalThis];
  const seen = kinds.map((one) => [Object.getOwnPropertyNames(one), Object.getOwnPropertyNames(one.prototype ?? {})]);
  return [seen, typeof left, typeof out, String(JSON.parse), await fs.read({ path: "${CANARY}" })];`;

const globals = [
  "globalThis",
  "this",
  "(0, eval)('this')",
  "new Function('return this')()",
  "Function('return globalThis')()",
  "(() => {}).constructor('return this')()",
  "[].constructor.constructor('return this')()",
  "''.at.constructor('return this')()",
  "shell.constructor('return this')()",
  "fs.read.constructor('return this')()",
  "console.log.constructor('return this')()",
  "setTimeout.constructor('return this')()",
  "Reflect.construct(Function, ['return this'])()",
  "Object.getPrototypeOf(function* () {}).constructor('yield this')().next().value",
  "await Object.getPrototypeOf(async function () {}).constructor('return this')()",
  "(await Object.getPrototypeOf(async function* () {}).constructor('yield this')().next()).value",
  "(await shell('x').constructor.constructor('return this'))()",
  "new Proxy(globalThis, {})",
  "function () { return this }.call(null)",
  "(() => { try { null.x } catch (error) { return error.constructor.constructor('return this')() } })()",
  "await new Promise((resolve) => setTimeout(function () { resolve(this ?? globalThis) }, 0))",
];

const returned: Escape[] = globals.map((code) => ({
  name: `global: ${code}`,
  code: `look(${code.startsWith("function ()") ? `(${code.replace(".call", ").call")}` : code})`,
  ...(code.includes("shell('x')") ? { calls: ["shell.exec"] } : {}),
}));

const names: Escape[] = [
  "sys.config.get",
  "proc.send",
  "codemode.exec",
  "codemode.run",
  "shell.kill",
  "fs.copy",
  "__proto__",
  "constructor",
  "timer",
  "",
].map((name) => ({
  name: `call: ${JSON.stringify(name)}`,
  code: `const call = attempt(() => ${JSON.stringify(name)}.split(".").reduce((one, part) => one[part], { fs, shell }));
      if (typeof call === "function") await attempt(() => call({ path: "x" }));
      attempt(() => { fs[${JSON.stringify(name)}] = 1 });
      attempt(() => fs[${JSON.stringify(name)}]?.({ path: "x" }));`,
}));

const imports: Escape[] = [
  "fs",
  "node:fs",
  "std",
  "os",
  "qjs:std",
  "quickjs",
  "./sandbox.ts",
  "file:///etc/passwd",
  "data:text/javascript,export default 1",
].map((path) => ({
  name: `import: ${path}`,
  code: `const module = await import(${JSON.stringify(path)}).catch(() => null); if (module !== null) escaped("module");`,
}));

const readers: Escape[] = [
  { name: "static import", code: "attempt(() => eval('import fs from \"fs\"')); attempt(() => Function('import \"os\"'));" },
  { name: "import.meta", code: "attempt(() => look(eval('import.meta')))" },
  { name: "require", code: "attempt(() => { require('fs'); escaped('require') })" },
  { name: "process.binding", code: "attempt(() => { process.binding('fs'); escaped('process') })" },
  { name: "fetch", code: "await attempt(async () => { await fetch('http://127.0.0.1/'); escaped('fetch') })?.catch(() => {})" },
  { name: "WebSocket", code: "attempt(() => { new WebSocket('ws://127.0.0.1'); escaped('WebSocket') })" },
  { name: "Worker", code: "attempt(() => { new Worker('data:,'); escaped('Worker') })" },
  { name: "WebAssembly", code: "attempt(() => { new WebAssembly.Memory({ initial: 1 }); escaped('WebAssembly') })" },
  { name: "Atomics.wait", code: "attempt(() => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e9); escaped('wait') })" },
  {
    name: "the realm of DOMException",
    code: "attempt(() => atob('!')) ; try { atob('!') } catch (error) { look(error.constructor.constructor('return this')()) }",
  },
  { name: "performance", code: "look(performance); look(performance.constructor?.constructor?.('return this')())" },
  {
    name: "environment",
    code: "for (const name of Object.getOwnPropertyNames(globalThis)) if (/env|argv0|canary/i.test(name)) escaped(name)",
  },
  {
    name: "cause and stack of host errors",
    code: "const error = await shell('refuse').catch((error) => error); if (/node:|\\/|\\.ts/.test(error.stack)) escaped(error.stack); look(error); look(error.cause); look(error.constructor)",
    calls: ["shell.exec"],
  },
  {
    name: "host paths in an engine error",
    code: "for (const run of [() => fs.read.call(null), () => new shell(), () => shell.apply(1, [1, 2]), () => setTimeout(1)]) try { run() } catch (error) { if (/node:|\\.ts|\\.js:.*node_modules/.test(error.stack)) escaped(error.stack) }",
    calls: ["shell.exec"],
  },
  {
    name: "callee and caller",
    code: "function probe() { for (const name of ['caller', 'callee', 'arguments']) { const value = attempt(() => arguments[name]) ?? attempt(() => probe[name]); if (typeof value === 'function' && value !== probe) escaped(name) } } probe(); [1].map(probe); await fs.read({ toJSON() { probe(); return {} } })",
    calls: ["fs.read"],
  },
];

/** Ways in which a script may get hold of the host's two functions, or make the prelude call them for it. */
const callbacks: Escape[] = [
  {
    name: "functions of a stack trace",
    code: "Error.prepareStackTrace = (_, sites) => { for (const site of sites) { const one = site.getFunction?.(); if (typeof one === 'function' && /^(call|settle|start|gsv)/.test(one.name)) escaped(one.name) } return '' }; Error.stackTraceLimit = 100; void new Error().stack; await fs.read({ toJSON() { void new Error().stack; return {} } })",
    calls: ["fs.read"],
  },
  {
    name: "functions of a captured stack trace",
    code: "class Mine extends Error { static prepareStackTrace(_, sites) { for (const site of sites) escaped(site.getFunctionName()); return '' } } Object.defineProperty(Error, 'prepareStackTrace', { get() { return Mine.prepareStackTrace } }); const o = {}; Error.captureStackTrace(o); void o.stack; void new Mine().stack; await fs.read({ toJSON() { void new Mine().stack; return {} } })",
    calls: ["fs.read"],
  },
  {
    name: "a call made with a function of a stack trace",
    code: "let call; Error.prepareStackTrace = (_, sites) => { for (const site of sites) { const one = site.getFunction?.(); if (one?.name === 'call') call = one } }; await fs.read({ toJSON() { void new Error().stack; return {} } }); if (call) { escaped('call'); await attempt(() => call('sys.config.get', {})) }",
    calls: ["fs.read"],
  },
  {
    name: "hostCall through toString of a name",
    code: "let host; Error.prepareStackTrace = (_, sites) => { for (const site of sites) { const one = site.getFunction?.(); if (one?.name?.startsWith('gsv')) host = one } }; await fs.read({ toJSON() { void new Error().stack; return { toString() { void new Error().stack; return 'x' } } } }); if (host) { escaped('host'); host(99, 'sys.token.create', 'not json'); host({}, {}, {}) }",
    calls: ["fs.read"],
  },
  { name: "a getter that throws a host error", code: "await attempt(() => fs.read({ get path() { throw new Error('mine') } }))" },
  {
    name: "a Proxy as arguments",
    code: "const seen = []; await fs.read(new Proxy({ path: 'x' }, { get(target, key) { look(target); return target[key] }, ownKeys(target) { return Reflect.ownKeys(target) } }))",
    calls: ["fs.read"],
  },
  {
    name: "a Proxy of an array as a path",
    code: "await fs.read({ path: new Proxy([], { get(target, key) { look(target); return key === 'length' ? 2 : target[key] } }) })",
    calls: ["fs.read"],
  },
  { name: "toJSON that returns functions", code: "await fs.read({ toJSON() { return () => 1 } })", calls: ["fs.read"] },
  {
    name: "toJSON that makes a call",
    code: "await fs.read({ toJSON() { fs.read({ path: 'inner' }); return {} } })",
    calls: ["fs.read", "fs.read"],
  },
  {
    name: "Symbol.toPrimitive",
    code: "const odd = { [Symbol.toPrimitive]() { look(this); return 'x' } }; await shell(odd, { cwd: odd }); setTimeout(() => {}, odd)",
    calls: ["shell.exec"],
  },
  {
    name: "a thenable as a result",
    code: "return { then(resolve, reject) { look(resolve); look(reject); look(resolve.constructor('return this')()); resolve(1) } }",
  },
  {
    name: "a thenable in the prototype",
    code: "Object.prototype.then = function (resolve) { delete Object.prototype.then; look(this); look(resolve); resolve(1) }; await shell('x')",
    calls: ["shell.exec"],
  },
  {
    name: "a then of promises that answers for the host",
    code: "const then = Promise.prototype.then; Promise.prototype.then = function (...args) { look(this); args.forEach(look); return then.apply(this, args) }; await shell('x'); await shell('y').then((one) => look(one))",
    calls: ["shell.exec", "shell.exec"],
  },
  {
    name: "the constructor of promises",
    code: "Object.defineProperty(Promise.prototype, 'constructor', { get() { look(this); return function (run) { look(run); run(() => {}, () => {}) } } }); await shell('x')",
    calls: ["shell.exec"],
  },
  {
    name: "Symbol.species",
    code: "Object.defineProperty(Promise, Symbol.species, { get() { return class { constructor(run) { look(run); run(look, look) } } } }); await attempt(() => shell('x').then(() => {}))",
    calls: ["shell.exec"],
  },
  {
    name: "hasInstance of Error",
    code: "Object.defineProperty(Error, Symbol.hasInstance, { value(value) { look(value); return true } }); console.log({ name: 1 }); throw { message: 'x' }",
  },
  {
    name: "iterators of arrays",
    code: "Array.prototype[Symbol.iterator] = function* () { look(this); yield 'sys.config.get'; yield* [] }; setTimeout(() => {}, 0, 1, 2); await shell('x')",
    calls: ["shell.exec"],
  },
  {
    name: "setters of arrays",
    code: "for (const at of [0, 1, 2, 3]) Object.defineProperty(Array.prototype, at, { set(value) { look(this); look(value); if (value === 'shell.exec') escaped('arguments') }, configurable: true }); attempt(() => shell('x')); console.log('y'); for (const at of [0, 1, 2, 3]) delete Array.prototype[at]",
    calls: ["shell.exec"],
  },
  {
    name: "setters of objects",
    code: "for (const name of ['resolve', 'reject', 'site', 'number', 'call', 'args', 'isOk', 'logs', 1, 2]) Object.defineProperty(Object.prototype, name, { set(value) { look(this); escaped(name) }, get() { return undefined } }); await shell('x')",
    calls: ["shell.exec"],
  },
  {
    name: "getters of objects",
    code: "for (const name of ['get', 'set', 'value', 'writable']) Object.defineProperty(Object.prototype, name, Object.setPrototypeOf({ get() { look(this); return undefined }, configurable: true }, null)); await attempt(() => shell('x'))",
    calls: ["shell.exec"],
  },
  { name: "stringify replaced", code: "JSON.stringify = () => '{\"forged\":true}'; await fs.read({ path: 'x' })", calls: ["fs.read"] },
  { name: "parse replaced", code: "JSON.parse = (text) => { escaped(text); return {} }; await fs.read({ path: 'x' })", calls: ["fs.read"] },
  {
    name: "call, apply and bind replaced",
    code: "for (const name of ['call', 'apply', 'bind']) Function.prototype[name] = function (...args) { args.forEach(look); if (/slice/.test(this.name)) escaped(this.name) }; await shell('x'); throw new Error('e')",
    calls: ["shell.exec"],
  },
  {
    name: "a report with another shape",
    code: "Object.prototype.toJSON = function () { return { isOk: true, logs: { length: 1e9 }, error: {} } }; return 1",
  },
  { name: "an error with another shape", code: "throw { name: {}, stack: {}, get message() { let n = 0; return n++ ? {} : 'x' } }" },
  {
    name: "an error whose name is a function",
    code: "throw Object.assign(new Error('x'), { name: { toString: () => ({}) }, stack: ['x'] })",
  },
  {
    name: "its own answers, with numbers that are taken",
    code: "const one = shell('1'), two = shell('2'); globalThis.settle?.(1, true, '1'); globalThis.pending = {}; await Promise.all([one, two])",
    calls: ["shell.exec", "shell.exec"],
  },
  {
    name: "an answer that arrives twice",
    code: "let count = 0; await new Promise((done) => shell('x').then(() => { count++; done() })); await shell('y'); if (count !== 1) escaped('twice')",
    calls: ["shell.exec", "shell.exec"],
  },
  {
    name: "fs and console replaced",
    code: "attempt(() => { fs.read = () => escaped('fs') }); attempt(() => { console.log = escaped }); 'use strict'; globalThis.shell = (name) => ({ then() {} }); await fs.read({ path: 'x' })",
    calls: ["fs.read"],
  },
  {
    name: "two hundred timers and calls",
    code: "for (let n = 0; n < 200; n++) setTimeout(() => {}, 0); await Promise.all(Array.from({ length: 3 }, () => shell('x')))",
    calls: ["shell.exec", "shell.exec", "shell.exec"],
  },
  {
    name: "more timers than may be",
    code: "let refused = 0; for (let n = 0; n < 3000; n++) try { setTimeout(() => {}, 1e9) } catch { refused++ } if (refused < 2000) escaped('timers')",
  },
  {
    name: "a timer with an odd delay",
    code: "for (const ms of [NaN, -1, Infinity, 1e308, '5', {}, [], null, -0]) clearTimeout(setTimeout(() => {}, ms)); attempt(() => setTimeout(() => {}, 1n)); attempt(() => setTimeout(() => {}, Symbol()))",
  },
  { name: "leaving the wrapper", code: "}); globalThis.out = true; look(this); (async () => { look(this)" },
  { name: "a comment that swallows the wrapper", code: "look(globalThis); // }" },
];

/** Arguments that would change the host's objects if it merged them. */
const pollution: Escape[] = [
  { name: "__proto__ in arguments", code: "await fs.read({ path: 'x', ['__proto__']: { polluted: true } })", calls: ["fs.read"] },
  {
    name: "__proto__ deep in arguments",
    code: 'await fs.write(JSON.parse(\'{"path":"x","content":{"__proto__":{"polluted":true}},"constructor":{"prototype":{"polluted":true}}}\'))',
    calls: ["fs.write"],
  },
  { name: "__proto__ in the result", code: 'return JSON.parse(\'{"__proto__":{"polluted":true},"then":1,"toJSON":2}\')' },
  {
    name: "polluted prototypes",
    code: "for (const one of [Object, Array, Function, Promise, String, Number, Error, RegExp, Map]) one.prototype.polluted = true; await shell('x')",
    calls: ["shell.exec"],
  },
  {
    name: "globals for the next script",
    code: "globalThis.left = 1; fs.left = 1; shell.left = 1; shell.prototype = 1; Object.assign(Error, { left: 1 })",
  },
  {
    name: "calls of the next script",
    code: "globalThis.shell = () => 'forged'; Object.defineProperty(globalThis, 'fs', { value: { read: () => 'forged' } }); JSON.parse = () => 'forged'",
  },
  {
    name: "a call that is left for the next script",
    code: "shell('x'); shell('y'); throw new Error('gone')",
    calls: ["shell.exec", "shell.exec"],
  },
  {
    name: "a finalizer for the next script",
    code: "const all = new FinalizationRegistry(() => { globalThis.left = 1 }); for (let n = 0; n < 1e4; n++) all.register({}, n); globalThis.all = all",
  },
];

/** Numbers and sizes with which an engine may read or write outside its memory. */
const memory: Escape[] = [
  [
    "typed arrays with odd lengths",
    "for (const length of [-1, 2 ** 32, 2 ** 31, 2 ** 53, NaN, 1e308, 4294967295]) for (const Type of [Uint8Array, Float64Array, BigInt64Array, ArrayBuffer]) { const one = attempt(() => new Type(length)); if (one && one.byteLength > 1e9) escaped('length') }",
  ],
  [
    "views beyond their buffer",
    "const buffer = new ArrayBuffer(8); for (const [at, length] of [[0, 9], [8, 1], [-1, 1], [4, 2 ** 30], [2 ** 32, 1]]) attempt(() => { const view = new Uint8Array(buffer, at, length); escaped(view.length) })",
  ],
  [
    "a view of a buffer that shrinks",
    "const buffer = new ArrayBuffer(4096, { maxByteLength: 8192 }); const view = new Uint32Array(buffer); buffer.resize(8); for (let n = 0; n < 4096; n++) { view[n] = 0x41414141; if (n > 1 && view[n] !== undefined) { escaped(n); break } }",
  ],
  [
    "a view that shrinks while it sorts",
    "const buffer = new ArrayBuffer(4096, { maxByteLength: 4096 }); const view = new Uint8Array(buffer).fill(7); view.sort((a, b) => { buffer.resize(1); return a - b }); if (view.length !== 1) escaped('sort')",
  ],
  [
    "a view that shrinks while it is filled",
    "const buffer = new ArrayBuffer(4096, { maxByteLength: 4096 }); new Uint8Array(buffer).fill({ valueOf() { buffer.resize(0); return 5 } }); const other = new Uint8Array(4096); if (other.some((byte) => byte !== 0)) escaped('fill')",
  ],
  [
    "a view that shrinks while it is copied",
    "const buffer = new ArrayBuffer(4096, { maxByteLength: 4096 }); const view = new Uint8Array(buffer); const out = attempt(() => view.copyWithin({ valueOf() { buffer.resize(16); return 0 } }, 8, 4096)); const slice = attempt(() => new Uint8Array(4096).set(view, 0)); if (view.length > 16) escaped('copy')",
  ],
  [
    "a detached buffer",
    "const buffer = new ArrayBuffer(64); const view = new DataView(buffer); const moved = buffer.transfer?.(); attempt(() => { view.setUint32(0, 1); if (moved) escaped('view') }); attempt(() => { if (new Uint8Array(buffer)[0] !== undefined) escaped('bytes') })",
  ],
  [
    "a DataView with odd offsets",
    "const view = new DataView(new ArrayBuffer(8)); for (const at of [-1, 8, 2 ** 31, 2 ** 32, 2 ** 53, Infinity, 1e300]) { attempt(() => { view.getFloat64(at); escaped(at) }); attempt(() => { view.setBigInt64(at, 1n); escaped(at) }) }",
  ],
  [
    "arrays with odd lengths",
    "const a = [1, 2, 3]; a.length = 4294967295; attempt(() => a.push(1)); attempt(() => { a.length = -1 }); attempt(() => a.at(-1)); attempt(() => [].fill.call({ length: 2 ** 53 - 1 }, 0, 2 ** 53 - 2))",
  ],
  [
    "an array that shrinks while it is used",
    "const a = Array.from({ length: 1000 }, (_, n) => ({ valueOf() { a.length = 0; return n } })); a.sort(); a.indexOf({}); a.join(); const b = [1.1, 2.2, 3.3]; b.toSpliced?.(0, { valueOf() { b.length = 0; return 1 } }); b.concat(a); for (const one of b) if (typeof one !== 'number' && one !== undefined) escaped(one)",
  ],
  [
    "strings with odd counts",
    "for (const count of [-1, 2 ** 28, 2 ** 30, Infinity]) attempt(() => { 'ab'.repeat(count); if (count !== 2 ** 28) escaped(count) }); attempt(() => 'a'.padEnd(2 ** 30)); attempt(() => 'a'.at(2 ** 31)); attempt(() => 'a'.substring(-(2 ** 31), 2 ** 31)); attempt(() => String.fromCodePoint(2 ** 31))",
  ],
  [
    "a regular expression with odd groups",
    "attempt(() => /(?:(a)|b)*?\\2/.exec('ab'.repeat(100))); attempt(() => new RegExp('(?<a>.)\\\\k<a>{99999999999}')); const sticky = /a/y; sticky.lastIndex = 2 ** 31; attempt(() => sticky.exec('a')); sticky.lastIndex = { valueOf() { sticky.compile?.('bb(b)(b)'); return 0 } }; attempt(() => sticky.exec('aaaa'))",
  ],
  [
    "odd numbers of BigInt",
    "attempt(() => BigInt.asUintN(2 ** 53 - 1, -1n)); attempt(() => 1n << (2n ** 62n)); attempt(() => 1n >> -(2n ** 62n)); attempt(() => BigInt.asIntN(-1, 1n)); attempt(() => (2n ** 100000n).toString(37))",
  ],
  [
    "lone surrogates and NUL in names and values",
    "await fs.read({ path: '\\ud800\\u0000\\udfff', ['\\ud800']: '\\u0000' }); return '\\ud800\\u0000'",
    ["fs.read"],
  ],
  [
    "an error while an error is made",
    "const bad = { get message() { throw bad }, get name() { throw bad }, get stack() { throw bad }, toString() { throw bad }, toJSON() { throw bad } }; console.log(bad); console.error(bad); throw bad",
  ],
  [
    "weak references",
    "let o = {}; const weak = new WeakRef(o); const map = new WeakMap([[o, 1]]); o = null; for (let n = 0; n < 1e5; n++) ({ n }); await 0; look(weak.deref() ?? {})",
  ],
  [
    "generators that enter themselves",
    "const g = (function* () { try { yield* g } finally { attempt(() => g.return(1)); attempt(() => g.next()) } })(); attempt(() => g.next()); attempt(() => g.throw(1))",
  ],
  [
    "proxies that break their promises",
    "const odd = new Proxy(function () {}, { getPrototypeOf: () => odd, ownKeys: () => ['a', 'a'], get: () => odd, apply: () => odd, has: () => true, getOwnPropertyDescriptor: () => ({ value: 1, configurable: true }) }); attempt(() => JSON.stringify(odd)); attempt(() => ({ ...odd })); attempt(() => Object.keys(odd)); attempt(() => `${odd}`); attempt(() => odd instanceof odd)",
  ],
].map(([name, code, calls]) => ({ name: `memory: ${String(name)}`, code: String(code), ...(Array.isArray(calls) ? { calls } : {}) }));

export const ESCAPES: readonly Escape[] = [...returned, ...names, ...imports, ...readers, ...callbacks, ...pollution, ...memory];
