// The other side of repos.ts: a thread that keeps repositories, one SQLite file each. A file stays open while it is used
// and for as long as there is room.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { parentPort } from "node:worker_threads";
import { endingStream } from "../../lib/ending-stream.ts";
import { fail } from "../../lib/sys-error.ts";
import type { ActorHttp, ActorRequest } from "../../ports/actors.ts";
import { type Reply, replyOf, valueOf } from "../../ports/reply.ts";
import { RepositoryActor } from "../../repo/actor.ts";
import { syncFolder } from "./folders.ts";
import type { Brought, Fetched, FromThread, ToThread } from "./repo-messages.ts";
import { NodeSql } from "./sql.ts";
import { Streams } from "./streams.ts";

const OPEN_MAX = 32;

/** `uses` counts calls that are not answered and bodies that are not read. */
type Open = { sql: NodeSql; actor: RepositoryActor; uses: number; isNew: boolean };

const port = parentPort ?? fail(500, "this file is the entry of a thread");
const post = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
const streams = new Streams(post);
/** The longest unused first. */
const open = new Map<string, Open>();
const asking = new Map<number, (reply: Reply) => void>();
let asked = 0;

port.on("message", (message: ToThread) => {
  switch (message.type) {
    case "call":
      return answer(message.id, call(message));
    case "fetch":
      return answer(message.id, serve(message));
    case "http":
      asking.get(message.id)?.(message.reply);
      asking.delete(message.id);
      return;
    case "close":
      for (const { sql } of open.values()) sql.close();
      return port.close();
    default:
      return streams.take(message);
  }
});

function answer(id: number, value: Promise<unknown>): void {
  void replyOf(value).then((reply) => post({ type: "answer", id, reply }));
}

async function call({ id, file, name, args }: Extract<ToThread, { type: "call" }>): Promise<unknown> {
  const opened = use(file);
  try {
    const value = await opened.actor.call(name, args, httpOf(id));
    keepName(file, opened);
    return value;
  } finally {
    release(opened);
  }
}

async function serve({ file, request }: Extract<ToThread, { type: "fetch" }>): Promise<Fetched> {
  const opened = use(file);
  try {
    const body: ActorRequest["body"] = request.body === null ? null : streams.receive(request.body);
    const response = await opened.actor.fetch({ ...request, body });
    keepName(file, opened);
    return { ...response, body: streams.send(endingStream(response.body, () => release(opened))) };
  } catch (error) {
    release(opened);
    throw error;
  }
}

function use(file: string): Open {
  let opened = open.get(file);
  open.delete(file);
  if (opened === undefined) {
    makeRoom();
    const isNew = !existsSync(file);
    const sql = new NodeSql(file, (error) => post({ type: "fatal", message: `${file}: ${String(error)}` }));
    opened = { sql, actor: new RepositoryActor(sql), uses: 0, isNew };
  }
  open.set(file, opened);
  opened.uses++;
  return opened;
}

function release(opened: Open): void {
  opened.uses--;
  makeRoom();
}

function makeRoom(): void {
  for (const [file, { sql, uses }] of open) {
    if (open.size < OPEN_MAX) return;
    if (uses > 0) continue;
    open.delete(file);
    sql.close();
  }
}

/** A new file is promised only when its name is on disk too. */
function keepName(file: string, opened: Open): void {
  if (!opened.isNew) return;
  syncFolder(dirname(file));
  opened.isNew = false;
}

/** The way out is the gateway's: this thread opens no connection. */
function httpOf(call: number): ActorHttp {
  return async (url, request) => {
    const id = ++asked;
    const reply = await new Promise<Reply>((resolve) => {
      asking.set(id, resolve);
      post({ type: "http", id, call, url, request });
    });
    const brought = valueOf(reply) as Brought;
    return { ...brought, body: streams.receive(brought.body) };
  };
}
