import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { rgPath } from "@vscode/ripgrep";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FileMachine, type HardwareLimits, NATIVE_LIMITS } from "../hardware/filesystem.ts";
import { type SearchArgs, searchFiles } from "../hardware/search.ts";
import { MachineFiles } from "./files.ts";

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "gsv-ripgrep-"));
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  put("a.txt", "needle\nhay\nneedle and needle\r\n");
  put("a/z.md", "a needle");
  put("a-b/x.md", "Needle is not needle\n");
  put("b/.hidden/n", "needle\n");
  put(".gitignore", "b\nignored\n# needle\n");
  put("ignored/n.md", "needle\n");
  put("漢字/é ü.txt", "日本 needle 🙂\n日本\n");
  put("binary", Uint8Array.of(0, ...new TextEncoder().encode("needle\n")));
  put("late-nul", Uint8Array.from([...new TextEncoder().encode(`${"x".repeat(9000)}\nneedle\n`), 0]));
  put("latin", Uint8Array.of(0xe9, ...new TextEncoder().encode(" needle\n")));
  put("utf16", Uint8Array.from([0xff, 0xfe, ...Array.from("needle", (letter) => [letter.charCodeAt(0), 0]).flat()]));
  put("bom", "\ufeffneedle behind a mark\n");
  put("long", `${"x".repeat(5000)}needle${"y".repeat(5000)}\n`);
  put("large", `${"hay\n".repeat(200_000)}needle\n`);
  put("special", "a.*b [x] -e --flag $HOME\n");
  for (let at = 0; at < 30; at++) put(`many/${at}`, "needle one\n".repeat(40));
  symlinkSync(join(folder, "a.txt"), join(folder, "link.txt"));
  symlinkSync(join(folder, "漢字"), join(folder, "linked"));
  symlinkSync("/nowhere/at/all", join(folder, "dangling"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function search(rg: string | null, args: SearchArgs, limits: HardwareLimits = NATIVE_LIMITS) {
  const machine: FileMachine = { files: new MachineFiles(folder, rg), limits, now: () => Date.now(), signal: new AbortController().signal };
  return searchFiles(machine, args);
}

test("ripgrep finds the same as a walk, in the same order and with the same limits", async () => {
  const few = { ...NATIVE_LIMITS, searchMatches: 7 };
  for (const query of [
    "needle",
    "Needle",
    "日本",
    "🙂",
    "a.*b [x]",
    "-e",
    "--flag",
    "hay",
    "nothing of the kind",
    "\ufffd",
    "x",
    "$HOME",
    "mark",
  ])
    // A limit that only what is found often reaches.
    for (const limits of ["needle", "hay", "x"].includes(query) ? [NATIVE_LIMITS, few] : [NATIVE_LIMITS])
      await Promise.all(
        [{}, { include: "*.md" }, { include: "a/**" }, { path: "a.txt" }, { path: "many" }, { path: "./b/../a" }, { path: "none" }].map(
          async (more) => {
            const args = { query, ...more };
            expect({ args, ...(await search(rgPath, args, limits)) }).toEqual({ args, ...(await search(null, args, limits)) });
          },
        ),
      );
  const found = await search(rgPath, { query: "needle" });
  expect(found).toMatchObject({ ok: true, truncated: true, count: NATIVE_LIMITS.searchMatches });
});

test("ripgrep and a walk agree for any text", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", minLength: 1, maxLength: 3 }), async (query) => {
      expect(await search(rgPath, { query })).toEqual(await search(null, { query }));
    }),
    { numRuns: 15 },
  );
});

test("works without ripgrep if the program is missing or is something else", async () => {
  const own = await search(null, { query: "needle" });
  for (const rg of ["/no/such/rg", "/bin/false-or-not", "/bin/ls"]) expect(await search(rg, { query: "needle" })).toEqual(own);
});
