import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parsePlace, placeText } from "./target-path.ts";

test("a target is what stands before the first colon", () => {
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

test("a target alone is not a file, and may be a directory", () => {
  expect(() => parsePlace("laptop:")).toThrow("Which file on laptop? Write laptop:PATH");
  expect(() => parsePlace("")).toThrow("Name a path");
  expect(parsePlace("laptop:", ".")).toEqual({ target: "laptop", path: "." });
  expect(parsePlace("", ".")).toEqual({ path: "." });
});

test("what is printed means the same when it is typed", () => {
  fc.assert(
    fc.property(fc.constantFrom(undefined, "laptop", "gsv"), fc.string(), (target, name) => {
      const place = target === undefined ? { path: `/${name}` } : { path: `/${name}`, target };
      expect(parsePlace(placeText(place, place.path))).toEqual(place);
    }),
  );
});
