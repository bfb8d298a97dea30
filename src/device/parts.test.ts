// Files on their way, in a directory that others may write to: what was begun here is gone on with, and nothing else that
// has the name of a part is followed, waited for, read or changed.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MachineFiles } from "./files.ts";

const SECRET = "a secret of this user";
const NEW = "what was sent";
const coming = { size: NEW.length, tag: "the same", mode: 0o644 };
const bytes = (text: string) => new TextEncoder().encode(text);

let scratch: string;
let folder: string;
let place: string;
let secret: string;
/** As after a restart of the daemon, or the next `gsv cp`. */
const anew = () => new MachineFiles(folder, null, join(scratch, "parts"));

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "gsv-parts-"));
  folder = join(scratch, "shared");
  mkdirSync(folder);
  place = join(folder, "file");
  secret = join(scratch, "secret");
  writeFileSync(secret, SECRET, { mode: 0o600 });
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const parts = () => readdirSync(folder).filter((name) => name.endsWith(".gsv-part"));
const records = () => readdirSync(join(scratch, "parts"));

/** The name under which a later try looks for what is there. */
async function cutOff(text = NEW.slice(0, 4)): Promise<string> {
  const receipt = await anew().receive(place, coming);
  await receipt.write(bytes(text));
  await receipt.leave(false);
  return join(folder, parts()[0]!);
}

async function receiveAll(): Promise<number> {
  const receipt = await anew().receive(place, coming);
  await receipt.write(bytes(NEW).subarray(receipt.have));
  await receipt.finish("");
  return receipt.have;
}

it("goes on with what was cut off, and leaves nothing behind", async () => {
  const part = await cutOff();
  expect(statSync(part).mode & 0o777).toBe(0o600);
  const receipt = await anew().receive(place, coming);
  expect([receipt.have, await receipt.read(0, 99)]).toEqual([4, bytes(NEW.slice(0, 4))]);
  await receipt.write(bytes(NEW.slice(4)));
  await receipt.finish("");
  expect([readFileSync(place, "utf8"), statSync(place).mode & 0o777, readdirSync(folder), records()]).toEqual([
    NEW,
    0o644 & ~process.umask(),
    ["file"],
    [],
  ]);
});

it("says that the same is on its way", async () => {
  const files = anew();
  const receipt = await files.receive(place, coming);
  await expect(files.receive(place, coming)).rejects.toThrow(/is on its way to .* already/);
  await receipt.leave(true);
  expect([await files.receive(place, coming).then((next) => next.leave(true)), parts(), records()]).toEqual([undefined, [], []]);
});

const PLANTED: Record<string, (part: string) => void> = {
  "a link": (part) => symlinkSync(secret, part),
  "a link that leads nowhere": (part) => symlinkSync(join(scratch, "nothing"), part),
  "a hard link": (part) => linkSync(secret, part),
  "a directory": (part) => mkdirSync(part),
  "a pipe": (part) => execFileSync("mkfifo", ["-m", "600", part]),
  "a file others can write to": (part) => {
    writeFileSync(part, SECRET);
    chmodSync(part, 0o666);
  },
  "a private file of this user that was moved there": (part) => renameSync(secret, part),
};

for (const [what, plant] of Object.entries(PLANTED)) {
  it(`neither follows nor adopts ${what} in the place of a part`, async () => {
    const part = await cutOff();
    rmSync(part);
    plant(part);
    const before = lstatSync(part);
    expect(await receiveAll()).toBe(0);
    expect([readFileSync(place, "utf8"), existsSync(join(scratch, "nothing"))]).toEqual([NEW, false]);
    const after = lstatSync(part);
    expect([after.ino, after.mode, after.nlink, after.size]).toEqual([before.ino, before.mode, before.nlink, before.size]);
    const kept = what.endsWith("moved there") ? part : secret;
    expect([readFileSync(kept, "utf8"), statSync(kept).mode & 0o777]).toEqual([SECRET, 0o600]);
    // Cut off, what could not have that name is not kept under another that nobody would look for.
    const receipt = await anew().receive(place, coming);
    await receipt.write(bytes("wha"));
    await receipt.leave(false);
    expect(parts()).toHaveLength(1);
  });
}

it.runIf(process.getuid?.() === 0)("does not adopt a part of another user", async () => {
  const part = await cutOff();
  execFileSync("chown", ["12345", part]);
  expect(await receiveAll()).toBe(0);
  expect(readFileSync(part, "utf8")).toBe(NEW.slice(0, 4));
});

it("keeps no part where it cannot remember having made it", async () => {
  mkdirSync(join(scratch, "parts"));
  chmodSync(join(scratch, "parts"), 0o777);
  const receipt = await anew().receive(place, coming);
  await receipt.write(bytes("what"));
  await receipt.leave(false);
  expect([parts(), records()]).toEqual([[], []]);
  expect([await receiveAll(), readFileSync(place, "utf8")]).toEqual([0, NEW]);
});

it("puts nothing in place that took the name of the part meanwhile", async () => {
  const receipt = await anew().receive(place, coming);
  await receipt.write(bytes(NEW));
  const part = join(folder, parts()[0]!);
  rmSync(part);
  symlinkSync(secret, part);
  await expect(receipt.finish("")).rejects.toThrow(/Somebody replaced/);
  await receipt.leave(true);
  expect([existsSync(place), readFileSync(secret, "utf8"), statSync(secret).mode & 0o777]).toEqual([false, SECRET, 0o600]);
});
