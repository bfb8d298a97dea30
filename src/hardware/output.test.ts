import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Output } from "./output.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text).length;
const MARK = /\n\.\.\.\[truncated: (\d+) bytes left out\]\.\.\.\n/;

test("output that fits is returned unchanged, and only once", () => {
  const output = new Output(20);
  for (const part of ["héllo", " ", "wörld"]) output.add(part);
  expect(output.bytes).toBe(13);
  expect(output.take()).toEqual({ text: "héllo wörld", isCut: false });
  expect(output.take()).toEqual({ text: "", isCut: false });
});

test("too much output keeps its start, its end and the number of omitted bytes", () => {
  const output = new Output(20);
  output.add("1234567890abcdefghijklmnopqrstuvwxyz");
  expect(output.take()).toEqual({ text: "1234567890\n...[truncated: 16 bytes left out]...\nqrstuvwxyz", isCut: true });
  output.add("short");
  expect(output.take()).toEqual({ text: "short", isCut: false });
});

test("a lost earlier answer comes first", () => {
  const output = new Output(20);
  output.add("new");
  expect(output.take({ text: "old ", isCut: false })).toEqual({ text: "old new", isCut: false });
  output.add("new");
  expect(output.take({ text: "", isCut: true })).toEqual({ text: "new", isCut: true });
});

test("for any input no character is cut in two and every byte is accounted for", () => {
  const text = fc.string({ unit: "binary", maxLength: 60 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 20 }), fc.integer({ min: 1, max: 100 }), (parts, bytesMax) => {
      const output = new Output(bytesMax);
      for (const part of parts) output.add(part);
      const all = parts.join("");
      const taken = output.take();
      if (bytesOf(all) <= bytesMax) {
        expect(taken).toEqual({ text: all, isCut: false });
        return;
      }
      const [, missing] = MARK.exec(taken.text) ?? [];
      const at = taken.text.indexOf(`\n...[truncated: ${missing} bytes`);
      const head = taken.text.slice(0, at);
      const tail = taken.text.slice(at).replace(MARK, "");
      expect(taken.isCut).toBe(true);
      expect(all.startsWith(head) && all.endsWith(tail)).toBe(true);
      expect(bytesOf(head) + bytesOf(tail) + Number(missing)).toBe(bytesOf(all));
      expect(bytesOf(head) + bytesOf(tail)).toBeLessThanOrEqual(bytesMax);
    }),
  );
});
