// The floor: a minimal server that parses and answers the same frames, in its own process. Its first argument says what it does
// per call and what it answers; the answers are taken from the gateway, so that sizes are equal.
//
//   bare     answers at once                         corked   the same, but the frames of one tick leave in one write
//   call     one durable write, committed per call   tick     commits once per turn of the event loop, then answers
//   timers   sched.add writes a row and sets a timer, which writes another row when it is due; sched.remove undoes it; commits as tick does
//   connect  looks up the token of sys.connect by its hash
//   disk     fs.write and fs.read on node:fs: overwrites the file in place and closes it; reads all of it as text
//   synced   the same, but answers a write after fsync: it survives a power cut, but a reader may see half of it

import { createHash, randomUUID } from "node:crypto";
import { mkdir, open as openFile, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import { DatabaseSync } from "node:sqlite";
import { type WebSocket, WebSocketServer } from "ws";

export type FloorMode = "bare" | "corked" | "call" | "tick" | "timers" | "connect" | "disk" | "synced";
/** `answers` by syscall; `token` is the only one that may connect. */
export type FloorOptions = { mode: FloorMode; home: string; token: string; answers: Record<string, unknown> };

type Frame = { type: string; id: string; call: string; args: Arguments };
type Arguments = {
  key?: string;
  value?: string;
  auth?: { token?: string };
  path?: string;
  content?: string;
  id?: string;
  expression?: { kind: string; atMs?: number };
};

const DAY_MS = 24 * 60 * 60 * 1000;

if (import.meta.main) serve(JSON.parse(process.argv[2]!) as FloorOptions);

function serve({ mode, home, token, answers }: FloorOptions): void {
  const database = openDatabase(home, token);
  const upsert = database.prepare("INSERT INTO kv VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value");
  const find = database.prepare("SELECT uid FROM tokens WHERE hash = ?");
  const server = createServer((_, response) => response.end());
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false });
  let waiting: (() => void)[] = [];

  const perTick = (write: () => void, send: () => void) => {
    if (waiting.length === 0) {
      database.exec("BEGIN");
      setImmediate(() => {
        database.exec("COMMIT");
        const due = waiting;
        waiting = [];
        for (const answer of due) answer();
      });
    }
    write();
    waiting.push(send);
  };
  const answerTimers = makeTimers(database, perTick);
  const isKnown = (frame: Frame) =>
    find.get(
      createHash("sha256")
        .update(frame.args.auth?.token ?? "")
        .digest("hex"),
    ) !== undefined;

  const answer = (frame: Frame, reply: (text: string) => void) => {
    const send = () => reply(JSON.stringify({ type: "res", id: frame.id, ok: true, data: answers[frame.call] }));
    if (frame.call === "sys.connect") {
      if (mode !== "connect" || isKnown(frame)) return send();
      return reply(JSON.stringify({ type: "res", id: frame.id, ok: false, error: { code: 401, message: "Authentication failed" } }));
    }
    if (mode === "disk" || mode === "synced")
      return void answerFromDisk(frame, home, mode === "synced").then((data) =>
        reply(JSON.stringify({ type: "res", id: frame.id, ok: true, data })),
      );
    const write = () => upsert.run(frame.args.key ?? "", frame.args.value ?? "");
    if (mode === "tick") return perTick(write, send);
    if (mode === "timers" && answerTimers(frame, (data) => reply(JSON.stringify({ type: "res", id: frame.id, ok: true, data })))) return;
    if (mode === "call") write();
    send();
  };

  server.on("upgrade", (request, wire, head) =>
    sockets.handleUpgrade(request, wire, head, (socket) => {
      const reply = mode === "corked" ? corkReplies(socket, wire) : (text: string) => socket.send(text);
      socket.on("message", (data: Buffer) => answer(JSON.parse(data.toString()) as Frame, reply));
      socket.on("error", () => {});
    }),
  );
  server.listen(0, "127.0.0.1", () => console.log(`FLOOR is up at http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  process.on("SIGTERM", () => process.exit(0));
  // The bench holds the other end of this pipe: however it ends, the floor ends too.
  process.stdin.on("end", () => process.exit(0)).resume();
}

/**
 * A row and a timer for each schedule, and a row for each run. The function answers calls that are about them, and returns false for
 * others.
 */
function makeTimers(database: DatabaseSync, perTick: (write: () => void, then: () => void) => void) {
  database.exec("CREATE TABLE schedules (id TEXT PRIMARY KEY, due_at INTEGER NOT NULL, schedule TEXT NOT NULL) STRICT, WITHOUT ROWID");
  database.exec("CREATE INDEX schedules_due ON schedules (due_at)");
  database.exec("CREATE TABLE runs (id TEXT PRIMARY KEY, schedule_id TEXT NOT NULL, ran_at INTEGER NOT NULL) STRICT, WITHOUT ROWID");
  const insert = database.prepare("INSERT INTO schedules VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM schedules WHERE id = ?");
  const insertRun = database.prepare("INSERT INTO runs VALUES (?, ?, ?)");
  const timers = new Map<string, NodeJS.Timeout>();
  let lastAt = 0;
  const fire = (id: string) => {
    timers.delete(id);
    const write = () => insertRun.run(randomUUID(), id, Date.now());
    perTick(write, () => (lastAt = Date.now()));
  };
  const add = (args: Arguments, reply: (data: unknown) => void) => {
    const id = randomUUID();
    const dueAt = args.expression?.atMs ?? Date.now() + DAY_MS;
    timers.set(id, setTimeout(fire, Math.min(dueAt - Date.now(), DAY_MS), id));
    const write = () => insert.run(id, dueAt, JSON.stringify(args));
    perTick(write, () => reply({ schedule: { id, ...args } }));
  };
  return ({ call, args }: Frame, reply: (data: unknown) => void): boolean => {
    if (call === "sched.add") add(args, reply);
    else if (call === "sched.remove") {
      const { id = "" } = args;
      clearTimeout(timers.get(id));
      timers.delete(id);
      const write = () => remove.run(id);
      perTick(write, () => reply({ removed: true }));
    } else if (call === "floor.fired") reply({ lastAt });
    else return false;
    return true;
  };
}

async function answerFromDisk({ call, args: { path = "", content } }: Frame, home: string, isSynced: boolean): Promise<unknown> {
  const file = join(home, path);
  if (call !== "fs.write" || content === undefined) {
    const text = await readFile(file, "utf8");
    return { ok: true, content: text, path, size: text.length };
  }
  try {
    await (isSynced ? writeSynced(file, content) : writeFile(file, content));
  } catch {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
  }
  return { ok: true, path, size: content.length };
}

async function writeSynced(file: string, content: string): Promise<void> {
  const handle = await openFile(file, "w");
  await handle.writeFile(content);
  await handle.sync();
  await handle.close();
}

function corkReplies(socket: WebSocket, wire: Duplex): (text: string) => void {
  let isCorked = false;
  return (text) => {
    if (!isCorked) {
      isCorked = true;
      wire.cork();
      process.nextTick(() => {
        isCorked = false;
        wire.uncork();
      });
    }
    socket.send(text);
  };
}

function openDatabase(home: string, token: string): DatabaseSync {
  const database = new DatabaseSync(join(home, "floor.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE IF NOT EXISTS kv (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID");
  database.exec("CREATE TABLE IF NOT EXISTS tokens (hash TEXT PRIMARY KEY, uid INTEGER NOT NULL) STRICT, WITHOUT ROWID");
  const hash = createHash("sha256").update(token).digest("hex");
  database.prepare("INSERT OR REPLACE INTO tokens VALUES (?, 1000)").run(hash);
  return database;
}
