// Several commands of one clone may start at once: one prepares while the others wait, and a build is kept while a program runs
// from it.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { claimBuild } from "../../src/cli/build-in-use.ts";
import { Builds } from "../../tools/setup/builds.mjs";
import { withLock } from "../../tools/setup/lock.mjs";

const scratch = mkdtempSync(join(tmpdir(), "gsv-setup-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe("the lock", () => {
  /** A program that takes the lock, prints so, and runs `then`. */
  function contend(file: string, then: string): ChildProcess {
    const source = `
      import { appendFileSync } from "node:fs";
      import { withLock } from ${JSON.stringify(new URL("../../tools/setup/lock.mjs", import.meta.url).href)};
      await withLock(${JSON.stringify(file)}, async () => { ${then} }, () => console.log("waits"));`;
    return spawn(process.execPath, ["--input-type=module", "-e", source], { stdio: ["ignore", "pipe", "inherit"] });
  }

  test("is held by one process at a time", async () => {
    const [file, log] = [join(scratch, "many"), join(scratch, "many.log")];
    const add = (word: string) => `appendFileSync(${JSON.stringify(log)}, "${word}\\n");`;
    const work = `${add("in")} await new Promise((resolve) => setTimeout(resolve, 20)); ${add("out")}`;
    const codes = await Promise.all(Array.from({ length: 6 }, async () => (await once(contend(file, work), "exit"))[0] as number));
    expect(codes).toEqual([0, 0, 0, 0, 0, 0]);
    expect(readFileSync(log, "utf8")).toBe("in\nout\n".repeat(6));
    expect(existsSync(file)).toBe(false);
  });

  test("is taken over if its holder is killed", async () => {
    const file = join(scratch, "killed");
    const holder = contend(file, 'console.log("holds"); await new Promise(() => setInterval(() => {}, 1000));');
    await once(holder.stdout!, "data");
    const waiter = contend(file, 'console.log("holds");');
    expect(String((await once(waiter.stdout!, "data"))[0])).toBe("waits\n");
    holder.kill("SIGKILL");
    expect(String((await once(waiter.stdout!, "data"))[0])).toBe("holds\n");
    await once(waiter, "exit");
  });

  test("is released if the work fails", async () => {
    const file = join(scratch, "failed");
    await expect(withLock(file, async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await withLock(file, async () => "held")).toBe("held");
  });
});

describe("builds", () => {
  const folder = join(scratch, "builds");
  const link = join(scratch, "dist");
  const builds = new Builds(folder, link);
  const signature = (letter: string) => letter.repeat(64);
  const add = (letter: string) => builds.add(signature(letter), async (to) => writeFileSync(join(to, "gsv.js"), letter));
  const age = () => readdirSync(folder).forEach((name) => utimesSync(join(folder, name), 0, 0));

  test("replace each other behind one link, and are kept while something runs from them", async () => {
    expect(builds.isCurrent(signature("a"))).toBe(false);
    await add("a");
    expect(builds.isCurrent(signature("a"))).toBe(true);
    const running = realpathSync(link);
    claimBuild(`file://${running}/gsv.js`);
    await add("b");
    expect(readFileSync(join(link, "gsv.js"), "utf8")).toBe("b");
    await add("c");
    age();
    await add("d");
    // b had no users; c was replaced only just now; this process claims to run from a.
    expect(readdirSync(folder).map((name) => name[0])).toEqual(["a", "c", "d"]);
    expect(readFileSync(join(running, "gsv.js"), "utf8")).toBe("a");
  });

  test("are not replaced by a failed one", async () => {
    await add("e");
    await expect(builds.add(signature("f"), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(builds.isCurrent(signature("e"))).toBe(true);
    await add("f");
    expect(readFileSync(join(link, "gsv.js"), "utf8")).toBe("f");
  });
});
