// Uploads into a directory that others may write to: our own parts are resumed, and nothing else with the name of a part is
// followed, waited for, read or changed.

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
const upload = { size: NEW.length, tag: "the same", mode: 0o644 };
const bytes = (text: string) => new TextEncoder().encode(text);

let scratch: string;
let folder: string;
let target: string;
let secret: string;
/** Like a restarted daemon, or the next `gsv cp`. */
const newFiles = () => new MachineFiles(folder, null, join(scratch, "parts"));

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "gsv-parts-"));
  folder = join(scratch, "shared");
  mkdirSync(folder);
  target = join(folder, "file");
  secret = join(scratch, "secret");
  writeFileSync(secret, SECRET, { mode: 0o600 });
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const parts = () => readdirSync(folder).filter((name) => name.endsWith(".gsv-part"));
const records = () => readdirSync(join(scratch, "parts"));

/** Interrupts an upload and returns the name under which a retry looks for its part. */
async function interrupt(text = NEW.slice(0, 4)): Promise<string> {
  const receipt = await newFiles().receive(target, upload);
  await receipt.write(bytes(text));
  await receipt.abandon(false);
  return join(folder, parts()[0]!);
}

async function receiveAll(): Promise<number> {
  const receipt = await newFiles().receive(target, upload);
  await receipt.write(bytes(NEW).subarray(receipt.have));
  await receipt.finish("");
  return receipt.have;
}

it("resumes an interrupted upload, and leaves nothing behind", async () => {
  const part = await interrupt();
  expect(statSync(part).mode & 0o777).toBe(0o600);
  const receipt = await newFiles().receive(target, upload);
  expect([receipt.have, await receipt.read(0, 99)]).toEqual([4, bytes(NEW.slice(0, 4))]);
  await receipt.write(bytes(NEW.slice(4)));
  await receipt.finish("");
  expect([readFileSync(target, "utf8"), statSync(target).mode & 0o777, readdirSync(folder), records()]).toEqual([
    NEW,
    0o644 & ~process.umask(),
    ["file"],
    [],
  ]);
});

it("refuses a second upload of the same content", async () => {
  const files = newFiles();
  const receipt = await files.receive(target, upload);
  await expect(files.receive(target, upload)).rejects.toThrow(/is on its way to .* already/);
  await receipt.abandon(true);
  expect([await files.receive(target, upload).then((next) => next.abandon(true)), parts(), records()]).toEqual([undefined, [], []]);
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
  it(`neither follows nor adopts ${what} in place of a part`, async () => {
    const part = await interrupt();
    rmSync(part);
    plant(part);
    const before = lstatSync(part);
    expect(await receiveAll()).toBe(0);
    expect([readFileSync(target, "utf8"), existsSync(join(scratch, "nothing"))]).toEqual([NEW, false]);
    const after = lstatSync(part);
    expect([after.ino, after.mode, after.nlink, after.size]).toEqual([before.ino, before.mode, before.nlink, before.size]);
    const kept = what.endsWith("moved there") ? part : secret;
    expect([readFileSync(kept, "utf8"), statSync(kept).mode & 0o777]).toEqual([SECRET, 0o600]);
    // An interrupted upload that could not use that name is not kept under another, where no retry would find it.
    const receipt = await newFiles().receive(target, upload);
    await receipt.write(bytes("wha"));
    await receipt.abandon(false);
    expect(parts()).toHaveLength(1);
  });
}

it.runIf(process.getuid?.() === 0)("does not adopt a part of another user", async () => {
  const part = await interrupt();
  execFileSync("chown", ["12345", part]);
  expect(await receiveAll()).toBe(0);
  expect(readFileSync(part, "utf8")).toBe(NEW.slice(0, 4));
});

it("keeps no part if it cannot record having made it", async () => {
  mkdirSync(join(scratch, "parts"));
  chmodSync(join(scratch, "parts"), 0o777);
  const receipt = await newFiles().receive(target, upload);
  await receipt.write(bytes("what"));
  await receipt.abandon(false);
  expect([parts(), records()]).toEqual([[], []]);
  expect([await receiveAll(), readFileSync(target, "utf8")]).toEqual([0, NEW]);
});

it("does not move a file into place that has replaced the part", async () => {
  const receipt = await newFiles().receive(target, upload);
  await receipt.write(bytes(NEW));
  const part = join(folder, parts()[0]!);
  rmSync(part);
  symlinkSync(secret, part);
  await expect(receipt.finish("")).rejects.toThrow(/was replaced by another program/);
  await receipt.abandon(true);
  expect([existsSync(target), readFileSync(secret, "utf8"), statSync(secret).mode & 0o777]).toEqual([false, SECRET, 0o600]);
});
