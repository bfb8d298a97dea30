// Compares the path resolver with a slow model of it, for random paths and for everything a hostile caller might pass: the
// result is normalized and inside the root, or a FileError.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FileError } from "../hardware/filesystem.ts";
import { ancestors, parentOf, resolvePath } from "./path.ts";

const ALICE = { home: "/home/alice", cwd: "/home/alice/work" };
const bytes = (text: string) => Buffer.byteLength(text);

/** The resolved path, or the code of the FileError; any other error fails the test. */
function outcome(path: string, who = ALICE): string {
  try {
    return resolvePath(path, who);
  } catch (error) {
    if (error instanceof FileError) return error.code;
    throw error;
  }
}

/** The model: starts at the root, reads the path character by character, and walks. */
function resolveSlowly(path: string, { home, cwd }: typeof ALICE): string {
  for (let at = 0; at < path.length; at++) {
    const unit = path.charCodeAt(at);
    const isHigh = unit >= 0xd800 && unit <= 0xdbff;
    const next = path.charCodeAt(at + 1);
    if (unit === 0 || (unit >= 0xdc00 && unit <= 0xdfff) || (isHigh && !(next >= 0xdc00 && next <= 0xdfff))) return "EINVAL";
    if (isHigh) at++;
  }
  const isHome = path === "~" || (path[0] === "~" && path[1] === "/");
  let at: string[] = [];
  const walk = (text: string) => {
    let name = "";
    for (const unit of `${text}/`) {
      if (unit !== "/") {
        name += unit;
        continue;
      }
      if (name === "..") at = at.slice(0, Math.max(0, at.length - 1));
      else if (name !== "." && name !== "") at = [...at, name];
      name = "";
    }
  };
  if (path[0] !== "/") walk(isHome ? home : cwd);
  walk(isHome ? path.slice(1) : path);
  const normalized = at.length === 0 ? "/" : at.map((name) => `/${name}`).join("");
  return bytes(normalized) > 1024 || at.some((name) => bytes(name) > 255) ? "ENAMETOOLONG" : normalized;
}

function expectInside(path: string): void {
  expect(path.startsWith("/")).toBe(true);
  expect(path === "/" || !path.endsWith("/")).toBe(true);
  expect(path.includes("\0")).toBe(false);
  expect(path.isWellFormed()).toBe(true);
  expect(bytes(path)).toBeLessThanOrEqual(1024);
  const names = path === "/" ? [] : path.slice(1).split("/");
  for (const name of names) {
    expect(["", ".", ".."]).not.toContain(name);
    expect(bytes(name)).toBeLessThanOrEqual(255);
  }
}

const ODD_NAMES = [
  "..",
  ".",
  "",
  "...",
  ". ",
  ".. ",
  "~",
  "~root",
  "%2e%2e",
  "%2f",
  "a",
  "b",
  "é",
  "e\u0301",
  "\u202e",
  "\ud83d\ude00",
  "\\",
  "C:",
  "\0",
];
const part = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...ODD_NAMES) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 8 }) },
  { weight: 1, arbitrary: fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 4 }) },
  { weight: 1, arbitrary: fc.integer({ min: 200, max: 300 }).map((length) => "n".repeat(length)) },
);
const anyPath = fc
  .tuple(
    fc.constantFrom("", "/", "~", "~/", "//", "./", "../"),
    fc.array(part, { maxLength: 12 }),
    fc.constantFrom("", "/", "//", "/.", "/.."),
  )
  .map(([start, parts, end]) => start + parts.join("/") + end);

describe("resolvePath", () => {
  it("gives the same result as the slow model", () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        expect(outcome(path)).toBe(resolveSlowly(path, ALICE));
      }),
      { numRuns: 3_000 },
    );
  });

  it("gives the same result as the model for any home and working directory", () => {
    const place = fc.array(fc.constantFrom("a", "b", "é", "home"), { maxLength: 4 }).map((names) => `/${names.join("/")}`);
    fc.assert(
      fc.property(anyPath, place, place, (path, home, cwd) => {
        expect(outcome(path, { home, cwd })).toBe(resolveSlowly(path, { home, cwd }));
      }),
      { numRuns: 1_000 },
    );
  });

  it("returns a path inside the root that resolves to itself", () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        const first = outcome(path);
        if (!first.startsWith("/")) return;
        expectInside(first);
        expect(outcome(first)).toBe(first);
        expect(outcome(`${first}/`)).toBe(first);
        expect(outcome(`${first}/x/..`)).toBe(first);
      }),
      { numRuns: 500 },
    );
  });

  it("has ancestors of which each is the parent of the next", () => {
    fc.assert(
      fc.property(anyPath, (path) => {
        const resolved = outcome(path);
        if (!resolved.startsWith("/") || resolved === "/") return;
        const paths = [...ancestors(resolved), resolved];
        expect(paths[0]).toBe("/");
        for (let at = 1; at < paths.length; at++) expect(parentOf(paths[at]!)).toBe(paths[at - 1]);
      }),
    );
  });

  it("keeps names distinct that only look alike", () => {
    expect(outcome("/é")).not.toBe(outcome("/e\u0301"));
    expect(outcome("/%2e%2e/etc")).toBe("/%2e%2e/etc");
    expect(outcome("~root/x")).toBe("/home/alice/work/~root/x");
    expect(outcome("C:\\Windows")).toBe("/home/alice/work/C:\\Windows");
    expect(outcome("/..//../../etc/./passwd/")).toBe("/etc/passwd");
  });
});

const HOSTILE = hostilePaths();

describe("hostile paths", () => {
  it("are at least 500 and all different", () => {
    expect(new Set(HOSTILE).size).toBe(HOSTILE.length);
    expect(HOSTILE.length).toBeGreaterThanOrEqual(500);
  });

  it("resolve inside the root or fail with a FileError, like the model, and in time", () => {
    const startedAt = performance.now();
    for (const path of HOSTILE) {
      const found = outcome(path);
      if (found.startsWith("/")) {
        expectInside(found);
        expect(outcome(found)).toBe(found);
      } else expect(["EINVAL", "ENAMETOOLONG"]).toContain(found);
      expect(found, JSON.stringify(path.slice(0, 80))).toBe(resolveSlowly(path, ALICE));
    }
    expect(performance.now() - startedAt).toBeLessThan(60_000);
  });
});

/** Known attempts to escape, before, between and after names. */
function hostilePaths(): string[] {
  const climbs = [
    [
      "..",
      "../..",
      "../../../../../../../../..",
      "./..",
      "../.",
      "..//..",
      ".//./..//",
      "a/../..",
      "a/b/../../..",
      "..././...",
      "....//....//",
      "..;/",
    ],
    ["..\\..\\", "\\..\\..", "..\\/..", "%2e%2e", "%2e%2e%2f%2e%2e", "..%2f", "..%5c", "%252e%252e", "%c0%ae%c0%ae", "%u002e%u002e"],
    [
      "\uff0e\uff0e",
      "\u2024\u2024",
      "․․/",
      "‥",
      "\u2025/",
      "..\u0000",
      "..\u200b",
      ".\u200d.",
      "\u202e..",
      "..\u202e/",
      "\ufeff..",
      "..\u00a0",
      ".. ",
      " ..",
    ],
  ].flat();
  const roots = [
    "/",
    "//",
    "///",
    "~",
    "~/",
    "~root",
    "~root/",
    "~alice/../root",
    "",
    ".",
    "..",
    "C:",
    "C:\\",
    "c:/",
    "\\\\server\\share\\",
    "//server/share/",
    "\\\\?\\C:\\",
    "\\\\.\\pipe\\",
    "file:///",
    "file://localhost/",
    "gsv:",
    "PROGRA~1/",
  ];
  const ends = [
    "etc/passwd",
    "etc/shadow/",
    "root/.ssh/id_ed25519",
    "home/bob/x//",
    "proc/self/environ",
    "sys/config/ai/api_key/.",
    "dev/null\0.txt",
    "etc/shadow%00.png",
  ];
  const names = [
    "\u0000",
    "a\u0000b",
    "\ud800",
    "\udfff",
    "a\ud83d",
    "\ude00\ud83d",
    "e\u0301".normalize("NFC"),
    "e\u0301".normalize("NFD"),
    "\u212b",
    "\u1e9b\u0323",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "\u0007",
    "\n",
    "\r\n",
    "\u001b[2J",
    "'",
    '"; DROP TABLE files; --',
    "$(id)",
    "`id`",
    "*",
    "?",
    "[a-z]",
    "{a,b}",
    "|",
    "&",
    ";",
    "#",
    "%",
    "_",
    "con",
    "nul",
    "aux.txt",
    "__proto__",
    "constructor",
    "toString",
    "-rf",
    "--",
    " ",
    "  x  ",
    ".git",
    ".GIT",
    "git~1",
    ".g\u200cit",
    "\u{e000}",
    "\u{10ffff}",
    "\ufffe",
    "\ufffd",
    "\u00ad",
    "\u3000",
    "0",
    "-1",
    "1e999",
    "undefined",
    "null",
  ];
  const long = [254, 255, 256, 1_023, 1_024, 1_025, 5_000].flatMap((length) => [
    "x".repeat(length),
    `/${"x".repeat(length)}`,
    "é".repeat(length / 2),
    "/".repeat(length),
    "../".repeat(length),
    "./".repeat(length),
    "a/".repeat(length / 2),
    `${"a/".repeat(length)}${"../".repeat(length)}b`,
    "😀".repeat(length / 4),
    `~${"/".repeat(length)}x`,
    "%2e%2e/".repeat(length / 7),
  ]);
  const all = [
    ...roots.flatMap((root) => ends.map((end) => root + end)),
    ...climbs.flatMap((climb) => ["", "/", "~/", "x/"].flatMap((start) => ["", "/etc/shadow", "/"].map((end) => start + climb + end))),
    ...names.flatMap((name) => [name, `/${name}`, `~/${name}/..`, `/home/alice/${name}/../../bob`, `${name}/`]),
    ...long,
  ];
  return [...new Set(all)];
}
