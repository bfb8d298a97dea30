import { execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startNodeHost } from "../../../test/support/node-host.ts";
import { populate } from "../../../test/support/people.ts";
import { RawSocket } from "../../../test/support/raw-socket.ts";
import { makeNodeLog } from "./log.ts";

test.skipIf(!existsSync("/dev/full"))("a full disk loses log lines but does not stop the gateway", () => {
  const log = makeNodeLog("/dev/full", "info");
  for (let at = 0; at < 10; at++) log.error("nobody will read this", { at });
});

test.skipIf(process.platform === "win32")("the next successful line is preceded by the number of lost lines", () => {
  const folder = mkdtempSync(join(tmpdir(), "gsv-log-"));
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const read = () => openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const first = read();
  const log = makeNodeLog(pipe, "info");
  closeSync(first);
  for (let at = 0; at < 3; at++) log.info("nobody reads this");
  const second = read();
  log.info("heard again");
  log.info("and again");
  const text = Buffer.alloc(4096);
  const lines = text.toString("utf8", 0, readSync(second, text)).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line) as Record<string, unknown>)).toMatchObject([
    { level: 40, lost: 3 },
    { msg: "heard again" },
    { msg: "and again" },
  ]);
  closeSync(second);
  rmSync(folder, { recursive: true });
});

test("a wrong credential leaves a line in the log, and a request without one does not", async () => {
  const host = await startNodeHost();
  await populate(host);
  const lines = () => readFileSync(join(host.home, "log/gateway.log"), "utf8").split("\n").length;
  const before = lines();
  const socket = await RawSocket.open(host.url);
  for (let at = 0; at < 50; at++)
    expect((await socket.call("sys.connect", { protocol: 1, client: { id: "x", role: "user" } })).error?.code).toBe(401);
  expect(lines()).toBe(before);
  await socket.connect({ username: "alice", token: "wrong" });
  expect(lines()).toBe(before + 1);
  socket.close();
  await host.close();
});
