import { describe, expect, test } from "vitest";
import { changedMode, modeText } from "./modes.ts";

test("bits as letters", () => {
  expect(modeText("file", 0o644)).toBe("-rw-r--r--");
  expect(modeText("directory", 0o755)).toBe("drwxr-xr-x");
  expect(modeText("directory", 0o1777)).toBe("drwxrwxrwt");
  expect(modeText("directory", 0o1776)).toBe("drwxrwxrwT");
  expect(modeText("file", 0)).toBe("----------");
});

describe("a mode that is asked for", () => {
  const file = (text: string, present = 0o644) => changedMode(text, present, false).toString(8);

  test("in octal", () => {
    expect(file("600")).toBe("600");
    expect(file("1777")).toBe("1777");
    expect(file("0")).toBe("0");
  });

  test("in letters", () => {
    expect(file("u+x")).toBe("744");
    expect(file("+x")).toBe("755");
    expect(file("go-r")).toBe("600");
    expect(file("a=r")).toBe("444");
    expect(file("u=rwx,go=rx")).toBe("755");
    expect(file("go=")).toBe("600");
    expect(file("+t")).toBe("1644");
    expect(file("-t", 0o1777)).toBe("777");
  });

  test("as another has it", () => {
    expect(file("g=u")).toBe("664");
    expect(file("o=g", 0o750)).toBe("755");
    expect(file("o-g", 0o755)).toBe("750");
  });

  test("X runs only what can be run already, or is a directory", () => {
    expect(file("a+X")).toBe("644");
    expect(file("a+X", 0o744)).toBe("755");
    expect(changedMode("a+X", 0o644, true).toString(8)).toBe("755");
  });

  test("or is none", () => {
    for (const text of ["", "888", "u+z", "+", "x+u+", "12345"].filter((one) => one !== "+"))
      expect(() => file(text)).toThrow(/invalid mode/);
  });
});
