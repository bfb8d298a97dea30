// One process speaks to another of the same user. What is said is a message like any other, with who said it; of a call, the
// answer comes back as a message too, or that none came in time.

import { fail, SysError } from "../../lib/sys-error.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { IpcCall } from "../nouns/ipc-calls.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { ProcessArgs, ProcessResult } from "../../process/actor.ts";
import type { Part } from "../part.ts";
import type { Store } from "../store.ts";
import { DEFAULT_CONVERSATION } from "../../process/rows/conversations.ts";

/** Says something to a process. */
export type Send = (process: ProcessRow, args: ProcessArgs<"send">) => Promise<ProcessResult<"send">>;

export type IpcArgs = { pid: string; conversationId?: string | undefined; message: string; metadata?: Record<string, unknown> | undefined };

const TIMEOUT_MS = 60_000;
const TIMEOUT_MS_MIN = 1_000;
const TIMEOUT_MS_MAX = 600_000;
/** Until what could not be said is tried again. Once the longest deadline is over, each wait is as long as it has been tried since. */
const RETRY_MS = 5_000;
/** After that it is said no more. */
const TRIED_MS = 24 * 60 * 60_000;

export class Ipc implements Part {
  readonly #store: Store;
  readonly #send: Send;
  readonly #answering = new Set<string>();

  constructor(store: Store, send: Send) {
    this.#store = store;
    this.#send = send;
  }

  async send(caller: Caller, { pid, conversationId, message, metadata }: IpcArgs) {
    const { source, target } = this.#between(caller, pid);
    const text = envelope(source, { message, metadata, sentAt: this.#store.reads.now }, null);
    const { runId, queued } = await this.#deliver(target, conversationId, text, this.#store.ports.crypto.uuid());
    return accepted(target, source, conversationId, runId, queued);
  }

  async call(caller: Caller, { pid, conversationId, message, metadata, timeoutMs }: IpcArgs & { timeoutMs?: number | undefined }) {
    const { source, target } = this.#between(caller, pid);
    const { reads, ports } = this.#store;
    const [callId, runId, now] = [ports.crypto.uuid(), ports.crypto.uuid(), reads.now];
    const deadlineAt = now + Math.min(TIMEOUT_MS_MAX, Math.max(TIMEOUT_MS_MIN, timeoutMs ?? TIMEOUT_MS));
    const from = { uid: source.uid, sourcePid: source.pid, conversationId: caller.agent?.conversationId ?? DEFAULT_CONVERSATION };
    const call: IpcCall = { callId, ...from, targetPid: target.pid, runId, createdAt: now, deadlineAt };
    await this.#store.commit(({ ipcCalls }) => ipcCalls.add(call));
    this.#store.wakeBy(deadlineAt);
    const text = envelope(source, { message, metadata, sentAt: now }, call);
    try {
      const { queued } = await this.#deliver(target, conversationId, text, runId);
      return { ...accepted(target, source, conversationId, runId, queued), callId, deadlineAt };
    } catch (error) {
      await this.#store.commit(({ ipcCalls }) => ipcCalls.remove(callId));
      throw error;
    }
  }

  /** A run has ended: whoever called for it is told. Another process may have a run of the same name, which answers nothing. */
  finished(
    pid: string,
    runId: string,
    outcome: { status: string; text: string | null; error?: string | undefined; usage?: unknown },
  ): void {
    const call = this.#store.reads.ipcCalls.ofRun(runId);
    if (call?.targetPid === pid) void this.#answer(call, replyText(call, outcome));
  }

  /** What is due by now. */
  woke(now: number): void {
    for (const call of this.#store.reads.ipcCalls.due(now)) void this.#answer(call, timeoutText(call));
  }

  nextDueAt(): number | null {
    return this.#store.reads.ipcCalls.nextDueAt();
  }

  async #answer(call: IpcCall, text: string): Promise<void> {
    const { callId, sourcePid } = call;
    if (this.#answering.has(callId)) return;
    this.#answering.add(callId);
    try {
      const source = this.#store.reads.processes.get(sourcePid);
      if (source !== undefined) await this.#say(source, call, text);
      await this.#store.commit(({ ipcCalls }) => ipcCalls.remove(callId));
    } catch (error) {
      this.#later(call, String(error));
    } finally {
      this.#answering.delete(callId);
    }
  }

  #later({ callId, sourcePid, targetPid, createdAt }: IpcCall, error: string): void {
    const { reads, ports } = this.#store;
    const triedMs = reads.now - createdAt - TIMEOUT_MS_MAX;
    if (triedMs > TRIED_MS) {
      ports.log.error("telling the answer to a call between processes was given up", { callId, sourcePid, targetPid, error });
      return this.#store.relaxed(({ ipcCalls }) => ipcCalls.remove(callId));
    }
    ports.log.error("the answer to a call between processes could not be told", { callId, error });
    const dueAt = reads.now + Math.max(RETRY_MS, triedMs);
    this.#store.relaxed(({ ipcCalls }) => ipcCalls.later(callId, dueAt));
    this.#store.wakeBy(dueAt);
  }

  /** Where it was asked; where that was closed meanwhile in the first conversation, and where that is closed too, nowhere. */
  async #say(source: ProcessRow, { callId, conversationId }: IpcCall, text: string): Promise<void> {
    for (const id of new Set([conversationId, DEFAULT_CONVERSATION])) {
      try {
        // The same name each time: however often it is tried, it is said once.
        const named = { runId: `ipc-reply:${callId}`, reason: "ipc.reply" as const };
        return void (await this.#send(source, { conversationId: id, said: { role: "system", text }, ...named }));
      } catch (error) {
        if (!(error instanceof SysError && error.code === 409)) throw error;
      }
    }
  }

  #deliver(target: ProcessRow, conversationId: string | undefined, text: string, runId: string) {
    return this.#send(target, { conversationId, said: { role: "user", text }, runId, reason: "proc.ipc.deliver" });
  }

  #between(caller: Caller, pid: string): { source: ProcessRow; target: ProcessRow } {
    const { processes } = this.#store.reads;
    if (caller.agent === undefined) fail(403, "Only a process can speak to another as itself: use proc.send");
    const source = processes.get(caller.agent.pid) ?? fail(404, `Process not found: ${caller.agent.pid}`);
    const target = processes.get(pid);
    if (target === undefined || target.uid !== source.uid) fail(404, `Process not found: ${pid}`);
    return { source, target };
  }
}

function accepted(target: ProcessRow, source: ProcessRow, conversationId: string | undefined, runId: string, queued: true | undefined) {
  const base = { ok: true as const, status: "started" as const, pid: target.pid, sourcePid: source.pid };
  return { ...base, conversationId: conversationId ?? "default", runId, ...(queued === undefined ? {} : { queued }) };
}

function envelope(
  source: ProcessRow,
  { message, metadata, sentAt }: { message: string; metadata: Record<string, unknown> | undefined; sentAt: number },
  call: IpcCall | null,
): string {
  const lines = [
    `Message from process \`${source.pid}\` (${source.username} uid=${source.uid}).`,
    `Sent at: ${iso(sentAt)}.`,
    "",
    message.trim(),
  ];
  if (metadata !== undefined) lines.push("", "Metadata:", ...fenced(metadata));
  if (call !== null)
    lines.push(
      "",
      "IPC call:",
      `- call id: ${call.callId}`,
      `- deadline: ${iso(call.deadlineAt)}`,
      `- reply goes to: ${call.sourcePid}`,
      "",
      "Finish this run before the deadline: your final answer is returned to the caller.",
    );
  return lines.join("\n");
}

function replyText(
  call: IpcCall,
  { status, text, error, usage }: { status: string; text: string | null; error?: string | undefined; usage?: unknown },
): string {
  const failed = status === "ok" ? [] : [`It ended as ${status}${error === undefined ? "" : `: ${error}`}.`];
  return [
    `[process event: ipc.reply] Process ${call.targetPid} has answered call ${call.callId} (run ${call.runId}).`,
    ...failed,
    ...fenced({ text, usage: usage ?? null }),
  ].join("\n");
}

function timeoutText(call: IpcCall): string {
  return `[process event: ipc.timeout] Process ${call.targetPid} did not answer call ${call.callId} (run ${call.runId}) by ${iso(call.deadlineAt)}. Its run may still go on.`;
}

function fenced(value: unknown): string[] {
  return ["```json", JSON.stringify(value, null, 2), "```"];
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
