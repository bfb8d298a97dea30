import { describe, expect, test } from "vitest";
import { applyMode, formatMode } from "./modes.ts";

test("modeText prints permission bits as letters", () => {
  expect(formatMode("file", 0o644)).toBe("-rw-r--r--");
  expect(formatMode("directory", 0o755)).toBe("drwxr-xr-x");
  expect(formatMode("directory", 0o1777)).toBe("drwxrwxrwt");
  expect(formatMode("directory", 0o1776)).toBe("drwxrwxrwT");
  expect(formatMode("file", 0)).toBe("----------");
});

describe("changedMode", () => {
  const file = (text: string, present = 0o644) => applyMode(text, present, false).toString(8);

  test("accepts an octal mode", () => {
    expect(file("600")).toBe("600");
    expect(file("1777")).toBe("1777");
    expect(file("0")).toBe("0");
  });

  test("accepts a symbolic mode", () => {
    expect(file("u+x")).toBe("744");
    expect(file("+x")).toBe("755");
    expect(file("go-r")).toBe("600");
    expect(file("a=r")).toBe("444");
    expect(file("u=rwx,go=rx")).toBe("755");
    expect(file("go=")).toBe("600");
    expect(file("+t")).toBe("1644");
    expect(file("-t", 0o1777)).toBe("777");
  });

  test("copies the bits of user, group or others", () => {
    expect(file("g=u")).toBe("664");
    expect(file("o=g", 0o750)).toBe("755");
    expect(file("o-g", 0o755)).toBe("750");
  });

  test("X sets the execute bit only on directories and files that have one", () => {
    expect(file("a+X")).toBe("644");
    expect(file("a+X", 0o744)).toBe("755");
    expect(applyMode("a+X", 0o644, true).toString(8)).toBe("755");
  });

  test("refuses an invalid mode", () => {
    for (const text of ["", "888", "u+z", "+", "x+u+", "12345"].filter((one) => one !== "+"))
      expect(() => file(text)).toThrow(/invalid mode/);
  });
});
