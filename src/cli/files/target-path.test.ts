import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseTargetPath, formatTargetPath } from "./target-path.ts";

test("the part before the first colon is the target", () => {
  expect(parseTargetPath("laptop:/etc/hosts")).toEqual({ target: "laptop", path: "/etc/hosts" });
  expect(parseTargetPath("gsv:~/x")).toEqual({ target: "gsv", path: "~/x" });
  expect(parseTargetPath("laptop:notes")).toEqual({ target: "laptop", path: "notes" });
  expect(parseTargetPath("laptop:a:b")).toEqual({ target: "laptop", path: "a:b" });
  expect(parseTargetPath("laptop:C:\\x")).toEqual({ target: "laptop", path: "C:\\x" });
  expect(parseTargetPath("my laptop:/x\ny")).toEqual({ target: "my laptop", path: "/x\ny" });
  expect(parseTargetPath("pc-1.lan:x")).toEqual({ target: "pc-1.lan", path: "x" });
});

test("everything else is a path", () => {
  for (const path of [
    "/etc/hosts",
    "~/x",
    "x",
    ".",
    "C:\\x",
    "C:/x",
    "c:x",
    "./a:b",
    "/a:b",
    "../a:b",
    "~/a:b",
    ".a:b",
    "~bob:x",
    ":x",
    "a\\b:c",
  ])
    expect(parseTargetPath(path)).toEqual({ path });
});

test("a target without a path is refused, unless the command takes directories", () => {
  expect(() => parseTargetPath("laptop:")).toThrow("No path on laptop: write laptop:PATH");
  expect(() => parseTargetPath("")).toThrow("No path given");
  expect(parseTargetPath("laptop:", ".")).toEqual({ target: "laptop", path: "." });
  expect(parseTargetPath("", ".")).toEqual({ path: "." });
});

test("a printed path parses to the same file", () => {
  fc.assert(
    fc.property(fc.constantFrom(undefined, "laptop", "gsv"), fc.string(), (target, name) => {
      const place = target === undefined ? { path: `/${name}` } : { path: `/${name}`, target };
      expect(parseTargetPath(formatTargetPath(place, place.path))).toEqual(place);
    }),
  );
});
