// Rewrites a WebAssembly module so that it counts its own steps: every iteration of a loop takes one from a counter, every copy or fill of
// memory one for each 16 bytes, and below zero the module traps. The host sets the counter, an exported global named `steps`.
//
// On Cloudflare a script runs in the thread of its process's object, where no clock advances while it computes and nobody can end it from
// outside. QuickJS polls for an interrupt between its own instructions only: a search in a long text, or the join of
// an array with four billion elements, takes minutes between two polls. In a rewritten module no loop is without a counter.

const LOOP = 0x03;
const SECTION = { type: 1, import: 2, function: 3, memory: 5, global: 6, export: 7, code: 10 };
/** Of 64 KB. The limit of the engine counts what scripts allocate, not the gaps between; two scripts must fit into an object's 128 MB. */
const PAGES_MAX = 768;
const I32 = 0x7f;

type Section = { id: number; body: Uint8Array };

export function meterWasm(wasm: Uint8Array): Uint8Array {
  const sections = readSections(wasm);
  const find = (id: number) => sections.find((section) => section.id === id)?.body ?? failOn(`section ${id} is missing`);
  const imported = countImports(find(SECTION.import));
  const counter = imported.globals + new Reader(find(SECTION.global)).number();
  const firstOwn = imported.functions + new Reader(find(SECTION.function)).number();
  const newType = new Reader(find(SECTION.type)).number();
  const calls = { copy: firstOwn, fill: firstOwn + 1 };
  const rewritten = sections.map(({ id, body }) => ({ id, body: rewriteSection(id, body, { counter, newType, calls }) }));
  const metered = [...wasm.subarray(0, 8)];
  for (const { id, body } of rewritten) {
    push(metered, [id, ...unsigned(body.length)]);
    push(metered, body);
  }
  return new Uint8Array(metered);
}

type Plan = { counter: number; newType: number; calls: { copy: number; fill: number } };

function rewriteSection(id: number, body: Uint8Array, { counter, newType, calls }: Plan): readonly number[] | Uint8Array {
  switch (id) {
    // The type of the two functions that charge for copies and fills.
    case SECTION.type:
      return append(body, [[0x60, 3, I32, I32, I32, 0]]);
    case SECTION.function:
      return append(body, [unsigned(newType), unsigned(newType)]);
    case SECTION.memory:
      return withMaximum(body);
    // Full at first: the engine starts before the host can set it.
    case SECTION.global:
      return append(body, [[I32, 1, 0x41, ...signed(0x7fffffff), 0x0b]]);
    case SECTION.export:
      return append(body, [[5, ...new TextEncoder().encode("steps"), 3, ...unsigned(counter)]]);
    case SECTION.code:
      return rewriteCode(body, counter, calls);
    default:
      return body;
  }
}

/** The one memory of the module, which cannot grow beyond the maximum. */
function withMaximum(body: Uint8Array): number[] {
  const reader = new Reader(body);
  if (reader.number() !== 1) failOn("it has more than one memory");
  const hasMaximum = (reader.byte() & 1) === 1;
  const minimum = reader.number();
  const maximum = hasMaximum ? Math.min(reader.number(), PAGES_MAX) : PAGES_MAX;
  return [1, 1, ...unsigned(minimum), ...unsigned(maximum)];
}

function rewriteCode(body: Uint8Array, counter: number, calls: Plan["calls"]): number[] {
  const reader = new Reader(body);
  const count = reader.number();
  const functions: number[][] = [];
  for (let at = 0; at < count; at++) functions.push(meterFunction(reader.take(reader.number()), counter, calls));
  const size = [0x20, 2, 0x41, 4, 0x76];
  const both = [0x20, 0, 0x20, 1, 0x20, 2];
  functions.push([0, ...charge(counter, size), ...both, 0xfc, 10, 0, 0, 0x0b], [0, ...charge(counter, size), ...both, 0xfc, 11, 0, 0x0b]);
  const code = unsigned(functions.length);
  for (const one of functions) {
    push(code, unsigned(one.length));
    push(code, one);
  }
  return code;
}

/** Takes `amount` (instructions that yield an i32) from the counter, and traps below zero. */
function charge(counter: number, amount: readonly number[]): number[] {
  const at = unsigned(counter);
  return [0x23, ...at, ...amount, 0x6b, 0x24, ...at, 0x23, ...at, 0x41, 0, 0x48, 0x04, 0x40, 0x00, 0x0b];
}

/** A function's locals and instructions, with a charge at the head of every loop. */
function meterFunction(body: Uint8Array, counter: number, calls: Plan["calls"]): number[] {
  const reader = new Reader(body);
  const metered: number[] = [];
  let copied = 0;
  const copyUntil = (end: number) => {
    push(metered, body.subarray(copied, end));
    copied = end;
  };
  for (let groups = reader.number(); groups > 0; groups--) {
    reader.number();
    reader.take(1);
  }
  const one = charge(counter, [0x41, 1]);
  while (reader.at < body.length) {
    const start = reader.at;
    const opcode = skipInstruction(reader);
    if (opcode === LOOP) {
      copyUntil(reader.at);
      push(metered, one);
    } else if (opcode === MEMORY_COPY || opcode === MEMORY_FILL) {
      copyUntil(start);
      push(metered, [0x10, ...unsigned(opcode === MEMORY_COPY ? calls.copy : calls.fill)]);
      copied = reader.at;
    }
  }
  copyUntil(body.length);
  return metered;
}

const MEMORY_COPY = 0xfc0a;
const MEMORY_FILL = 0xfc0b;

/** Returns the opcode, with its prefix if it has one. */
function skipInstruction(reader: Reader): number {
  const opcode = reader.byte();
  if (opcode === 0xfc) return skipPrefixed(reader);
  if (opcode === 0x0e) {
    for (let labels = reader.number() + 1; labels > 0; labels--) reader.number();
  } else if (opcode === 0x1c) reader.take(reader.number());
  else if (opcode === 0x43) reader.take(4);
  else if (opcode === 0x44) reader.take(8);
  else for (let operands = operandCount(opcode); operands > 0; operands--) reader.number();
  return opcode;
}

function skipPrefixed(reader: Reader): number {
  const sub = reader.number();
  // Saturating conversions, then memory.init, data.drop, copy, fill, table.init, elem.drop, table.copy, grow, size, fill.
  const operands = sub <= 7 ? 0 : [2, 1, 2, 1, 2, 1, 2, 1, 1, 1][sub - 8];
  if (operands === undefined) failOn(`unknown instruction fc ${sub}`);
  for (let left = operands; left > 0; left--) reader.number();
  return 0xfc00 | sub;
}

/** Operands that are numbers of variable length. */
function operandCount(opcode: number): number {
  if (opcode >= 0x28 && opcode <= 0x3e) return 2;
  if (opcode === 0x11 || opcode === 0x13) return 2;
  const hasOne =
    (opcode >= 0x02 && opcode <= 0x04) ||
    [0x0c, 0x0d, 0x10, 0x12, 0x3f, 0x40, 0x41, 0x42, 0xd0, 0xd2].includes(opcode) ||
    (opcode >= 0x20 && opcode <= 0x26);
  if (hasOne) return 1;
  const hasNone = [0x00, 0x01, 0x05, 0x0b, 0x0f, 0x1a, 0x1b, 0xd1].includes(opcode) || (opcode >= 0x45 && opcode <= 0xc4);
  return hasNone ? 0 : failOn(`unknown instruction ${opcode.toString(16)}`);
}

function readSections(wasm: Uint8Array): Section[] {
  const reader = new Reader(wasm, 8);
  const sections: Section[] = [];
  while (reader.at < wasm.length) sections.push({ id: reader.byte(), body: reader.take(reader.number()) });
  return sections;
}

function countImports(body: Uint8Array): { functions: number; globals: number } {
  const reader = new Reader(body);
  const counts = { functions: 0, globals: 0 };
  for (let left = reader.number(); left > 0; left--) {
    reader.take(reader.number());
    reader.take(reader.number());
    const kind = reader.byte();
    if (kind === 0) {
      counts.functions++;
      reader.number();
    } else if (kind === 3) {
      counts.globals++;
      reader.take(2);
    } else {
      if (kind === 1) reader.byte();
      const hasMaximum = (reader.byte() & 1) === 1;
      reader.number();
      if (hasMaximum) reader.number();
    }
  }
  return counts;
}

function append(body: Uint8Array, entries: readonly (readonly number[])[]): number[] {
  const reader = new Reader(body);
  const longer = unsigned(reader.number() + entries.length);
  push(longer, body.subarray(reader.at));
  for (const entry of entries) push(longer, entry);
  return longer;
}

/** A spread would put a hundred thousand values on the stack. */
function push(list: number[], more: ArrayLike<number>): void {
  for (let at = 0; at < more.length; at++) list.push(more[at]!);
}

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ;) {
    const low = rest & 0x7f;
    rest >>>= 7;
    bytes.push(rest === 0 ? low : low | 0x80);
    if (rest === 0) return bytes;
  }
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ;) {
    const low = rest & 0x7f;
    rest >>= 7;
    const isLast = rest === 0 ? (low & 0x40) === 0 : rest === -1 && (low & 0x40) !== 0;
    bytes.push(isLast ? low : low | 0x80);
    if (isLast) return bytes;
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  byte(): number {
    return this.#bytes[this.at++] ?? failOn("it ends too early");
  }

  take(length: number): Uint8Array {
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  /** An unsigned number; also skips a signed one. */
  number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if ((byte & 0x80) === 0) return value >>> 0;
    }
  }
}

function failOn(problem: string): never {
  throw new Error(`The module cannot be metered: ${problem}`);
}
