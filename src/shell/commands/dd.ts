// dd.

import { toLatin1 } from "../../lib/bytes.ts";
import { defineCommandFile, CommandError } from "../command.ts";
import { parseSize } from "../sizes.ts";

const BYTES_MAX = 2 * 1024 * 1024;
/** The whole file is built in memory before it is written, including the bytes that seek skips. */
const FILE_BYTES_MAX = 16 * 1024 * 1024;
const NAMES = new Set(["if", "of", "bs", "ibs", "obs", "count", "skip", "seek", "conv", "status", "iflag", "oflag"]);

export default defineCommandFile({
  name: "dd",
  usage: "[if=path] [of=path] [bs=size] [count=blocks] [skip=blocks] [seek=blocks] [conv=notrunc]",
  doc: "Copy a part of a file. /dev/zero and /dev/urandom need a count.",
  async run({ link, resolve, read, stdinBytes }, args) {
    const options = new Map(args.map((arg) => [arg.split("=")[0]!, arg.slice(arg.indexOf("=") + 1)] as const));
    for (const name of options.keys()) if (!NAMES.has(name)) throw new CommandError(`unrecognized operand '${name}'`, 2);
    const sizeOption = (name: string, fallback: number) => {
      const text = options.get(name);
      return text === undefined ? fallback : (parseSize(text) ?? failInvalid(text));
    };
    const block = sizeOption("bs", sizeOption("ibs", 512));
    const count = sizeOption("count", Number.POSITIVE_INFINITY);
    const start = sizeOption("skip", 0) * block;
    const source = options.get("if");
    const path = source === undefined ? null : resolve(source);
    const isEndless = path === "/dev/zero" || path === "/dev/urandom" || path === "/dev/random";
    if (isEndless && block * count > BYTES_MAX) throw new CommandError(`exceeds the output limit of a command (${BYTES_MAX} bytes)`);
    const all = isEndless ? readEndlessDevice(path, block * count) : source === undefined ? stdinBytes() : await read(source);
    const part = isEndless ? all : all.slice(start, Math.min(all.length, start + block * count));
    const full = Math.floor(part.length / block);
    const records = `${full}+${part.length % block === 0 ? 0 : 1}`;
    const stderr = options.get("status") === "none" ? "" : `${records} records in\n${records} records out\n${part.length} bytes copied\n`;
    const target = options.get("of");
    if (target === undefined) return { stdout: toLatin1(part), stderr, stdoutKind: "bytes" as const };
    const seek = sizeOption("seek", 0) * sizeOption("bs", sizeOption("obs", 512));
    const keepsRest = options.get("conv")?.includes("notrunc") === true;
    const before = seek > 0 || keepsRest ? await read(target).catch(() => new Uint8Array()) : new Uint8Array();
    if (seek + part.length > FILE_BYTES_MAX) throw new CommandError(`exceeds the file size limit of a command (${FILE_BYTES_MAX} bytes)`);
    const after = new Uint8Array(Math.max(seek + part.length, keepsRest ? before.length : 0));
    after.set(before.subarray(0, after.length));
    after.set(part, seek);
    await link.write(resolve(target), after);
    return { stderr };
  },
});

function readEndlessDevice(path: string, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  if (path !== "/dev/zero") for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
}

function failInvalid(text: string): never {
  throw new CommandError(`invalid number: '${text}'`);
}
