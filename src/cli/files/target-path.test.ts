import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parsePlace, placeText } from "./target-path.ts";

test("the part before the first colon is the target", () => {
  expect(parsePlace("laptop:/etc/hosts")).toEqual({ target: "laptop", path: "/etc/hosts" });
  expect(parsePlace("gsv:~/x")).toEqual({ target: "gsv", path: "~/x" });
  expect(parsePlace("laptop:notes")).toEqual({ target: "laptop", path: "notes" });
  expect(parsePlace("laptop:a:b")).toEqual({ target: "laptop", path: "a:b" });
  expect(parsePlace("laptop:C:\\x")).toEqual({ target: "laptop", path: "C:\\x" });
  expect(parsePlace("my laptop:/x\ny")).toEqual({ target: "my laptop", path: "/x\ny" });
  expect(parsePlace("pc-1.lan:x")).toEqual({ target: "pc-1.lan", path: "x" });
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
    expect(parsePlace(path)).toEqual({ path });
});

test("a target without a path is refused, unless the command takes directories", () => {
  expect(() => parsePlace("laptop:")).toThrow("Which file on laptop? Write laptop:PATH");
  expect(() => parsePlace("")).toThrow("Name a path");
  expect(parsePlace("laptop:", ".")).toEqual({ target: "laptop", path: "." });
  expect(parsePlace("", ".")).toEqual({ path: "." });
});

test("a printed path parses to the same file", () => {
  fc.assert(
    fc.property(fc.constantFrom(undefined, "laptop", "gsv"), fc.string(), (target, name) => {
      const place = target === undefined ? { path: `/${name}` } : { path: `/${name}`, target };
      expect(parsePlace(placeText(place, place.path))).toEqual(place);
    }),
  );
});
