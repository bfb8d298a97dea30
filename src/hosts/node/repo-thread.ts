// The other side of repos.ts: a thread that runs repositories, one SQLite file each. A file stays open while it is used, and
// afterwards as long as there is room.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { parentPort } from "node:worker_threads";
import { makeEndNotifyingStream } from "../../lib/ending-stream.ts";
import { fail } from "../../lib/sys-error.ts";
import type { ActorHttp, ActorRequest } from "../../ports/actors.ts";
import { type Reply, replyOf, unwrapReply } from "../../ports/reply.ts";
import { RepositoryActor } from "../../repo/actor.ts";
import { syncFolder } from "./folders.ts";
import type { HttpAnswer, FetchedResponse, FromThread, ToThread } from "./repo-messages.ts";
import { NodeSql } from "./sql.ts";
import { Streams } from "./streams.ts";

const OPEN_MAX = 32;

/** `uses` counts unanswered calls and unread bodies. */
type OpenRepo = { sql: NodeSql; actor: RepositoryActor; uses: number; isNew: boolean };

const port = parentPort ?? fail(500, "this file is the entry of a thread");
const post = (message: FromThread, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);
const streams = new Streams(post);
/** Least recently used first. */
const openRepos = new Map<string, OpenRepo>();
const pendingHttp = new Map<number, (reply: Reply) => void>();
let lastHttpId = 0;

port.on("message", (message: ToThread) => {
  switch (message.type) {
    case "call":
      return answer(message.id, call(message));
    case "fetch":
      return answer(message.id, serve(message));
    case "http":
      pendingHttp.get(message.id)?.(message.reply);
      pendingHttp.delete(message.id);
      return;
    case "close":
      for (const { sql } of openRepos.values()) sql.close();
      return port.close();
    default:
      return streams.handleMessage(message);
  }
});

function answer(id: number, value: Promise<unknown>): void {
  void replyOf(value).then((reply) => post({ type: "answer", id, reply }));
}

async function call({ id, file, name, args }: Extract<ToThread, { type: "call" }>): Promise<unknown> {
  const repo = acquire(file);
  try {
    const value = await repo.actor.call(name, args, makeHttpForCall(id));
    syncName(file, repo);
    return value;
  } finally {
    release(repo);
  }
}

async function serve({ file, request }: Extract<ToThread, { type: "fetch" }>): Promise<FetchedResponse> {
  const repo = acquire(file);
  try {
    const body: ActorRequest["body"] = request.body === null ? null : streams.receive(request.body);
    const response = await repo.actor.fetch({ ...request, body });
    syncName(file, repo);
    return { ...response, body: streams.send(makeEndNotifyingStream(response.body, () => release(repo))) };
  } catch (error) {
    release(repo);
    throw error;
  }
}

function acquire(file: string): OpenRepo {
  let repo = openRepos.get(file);
  openRepos.delete(file);
  if (repo === undefined) {
    makeRoom();
    const isNew = !existsSync(file);
    const sql = new NodeSql(file, (error) => post({ type: "fatal", message: `${file}: ${String(error)}` }));
    repo = { sql, actor: new RepositoryActor(sql), uses: 0, isNew };
  }
  openRepos.set(file, repo);
  repo.uses++;
  return repo;
}

function release(repo: OpenRepo): void {
  repo.uses--;
  makeRoom();
}

function makeRoom(): void {
  for (const [file, { sql, uses }] of openRepos) {
    if (openRepos.size < OPEN_MAX) return;
    if (uses > 0) continue;
    openRepos.delete(file);
    sql.close();
  }
}

/** A new file can be promised only if its name is on disk too. */
function syncName(file: string, repo: OpenRepo): void {
  if (!repo.isNew) return;
  syncFolder(dirname(file));
  repo.isNew = false;
}

/** Requests leave through the gateway: this thread opens no connection. */
function makeHttpForCall(call: number): ActorHttp {
  return async (url, request) => {
    const id = ++lastHttpId;
    const reply = await new Promise<Reply>((resolve) => {
      pendingHttp.set(id, resolve);
      post({ type: "http", id, call, url, request });
    });
    const response = unwrapReply(reply) as HttpAnswer;
    return { ...response, body: streams.receive(response.body) };
  };
}
