// Messages between processes of the same user. The target gets an ordinary message that names the sender. The answer to a call, or its
// timeout, goes back to the caller as a message too, which is answered as strictly as the caller was when it called.

import { fail, SysError } from "../../lib/sys-error.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { IpcCall } from "../nouns/ipc-calls.ts";
import type { Origin } from "../nouns/process-origins.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { ProcessArgs, ProcessResult } from "../../process/actor.ts";
import type { Part } from "../part.ts";
import type { Store } from "../store.ts";
import { conversationIdOrDefault } from "../../process/conversation/conversation-calls.ts";
import { DEFAULT_CONVERSATION } from "../../process/rows/conversations.ts";
import { makeOrigin, withOrigin } from "./postures.ts";

/** Sends a message to a process. */
export type SendToProcess = (process: ProcessRow, args: ProcessArgs<"send">) => Promise<ProcessResult<"send">>;

export type IpcArgs = { pid: string; conversationId?: string | undefined; message: string; metadata?: Record<string, unknown> | undefined };

const TIMEOUT_MS = 60_000;
const TIMEOUT_MS_MIN = 1_000;
const TIMEOUT_MS_MAX = 600_000;
/** The wait before the delivery of an answer is retried. After the longest deadline, each wait is as long as the retries took so far. */
const RETRY_MS = 5_000;
/** How long retries continue after the longest deadline. */
const RETRY_FOR_MS = 24 * 60 * 60_000;

export class Ipc implements Part {
  readonly #store: Store;
  readonly #send: SendToProcess;
  /** Ids of calls whose answer is being delivered. */
  readonly #deliveries = new Set<string>();

  constructor(store: Store, send: SendToProcess) {
    this.#store = store;
    this.#send = send;
  }

  async send(caller: Caller, { pid, conversationId, message, metadata }: IpcArgs) {
    const { source, target } = this.#requirePeers(caller, pid);
    const { reads, ports } = this.#store;
    const text = formatMessage(source, { message, metadata, sentAt: reads.now }, null);
    const origin = makeOrigin(reads, caller.agent!);
    const { runId, queued } = await this.#deliverMessage(origin, target, conversationId, text, ports.crypto.uuid());
    return makeReceipt(target, source, conversationId, runId, queued);
  }

  async call(caller: Caller, { pid, conversationId, message, metadata, timeoutMs }: IpcArgs & { timeoutMs?: number | undefined }) {
    const { source, target } = this.#requirePeers(caller, pid);
    const { reads, ports } = this.#store;
    const [callId, runId, now] = [ports.crypto.uuid(), ports.crypto.uuid(), reads.now];
    const deadlineAt = now + Math.min(TIMEOUT_MS_MAX, Math.max(TIMEOUT_MS_MIN, timeoutMs ?? TIMEOUT_MS));
    const origin = makeOrigin(reads, caller.agent!);
    const from = { sourcePid: source.pid, conversationId: origin.sourceConversationId, posture: origin.posture };
    const call: IpcCall = { callId, uid: source.uid, ...from, targetPid: target.pid, runId, createdAt: now, deadlineAt };
    await this.#store.commit(({ ipcCalls }) => ipcCalls.add(call));
    this.#store.wakeBy(deadlineAt);
    const text = formatMessage(source, { message, metadata, sentAt: now }, call);
    try {
      const { queued } = await this.#deliverMessage(origin, target, conversationId, text, runId);
      return { ...makeReceipt(target, source, conversationId, runId, queued), callId, deadlineAt };
    } catch (error) {
      await this.#store.commit(({ ipcCalls }) => ipcCalls.remove(callId));
      throw error;
    }
  }

  /** A run has ended: its answer goes to the process that called. Another process may have a run with the same id, which is no answer. */
  onRunFinished(
    pid: string,
    runId: string,
    outcome: { status: string; text: string | null; error?: string | undefined; usage?: unknown },
  ): void {
    const call = this.#store.reads.ipcCalls.findByRun(runId);
    if (call?.targetPid === pid) void this.#deliverAnswer(call, formatReply(call, outcome));
  }

  /** Answers calls whose deadline is over with a timeout. */
  onWake(now: number): void {
    for (const call of this.#store.reads.ipcCalls.listDue(now)) void this.#deliverAnswer(call, formatTimeout(call));
  }

  nextDueAt(): number | null {
    return this.#store.reads.ipcCalls.nextDueAt();
  }

  async #deliverAnswer(call: IpcCall, text: string): Promise<void> {
    const { callId, sourcePid } = call;
    if (this.#deliveries.has(callId)) return;
    this.#deliveries.add(callId);
    try {
      const source = this.#store.reads.processes.get(sourcePid);
      if (source !== undefined) await this.#sendAnswer(source, call, text);
      await this.#store.commit(({ ipcCalls }) => ipcCalls.remove(callId));
    } catch (error) {
      this.#retryLater(call, String(error));
    } finally {
      this.#deliveries.delete(callId);
    }
  }

  #retryLater({ callId, sourcePid, targetPid, createdAt }: IpcCall, error: string): void {
    const { reads, ports } = this.#store;
    const retryingMs = reads.now - createdAt - TIMEOUT_MS_MAX;
    if (retryingMs > RETRY_FOR_MS) {
      ports.log.error("gave up delivering the answer to an IPC call", { callId, sourcePid, targetPid, error });
      return this.#store.relaxed(({ ipcCalls }) => ipcCalls.remove(callId));
    }
    ports.log.error("the answer to an IPC call could not be delivered", { callId, error });
    const dueAt = reads.now + Math.max(RETRY_MS, retryingMs);
    this.#store.relaxed(({ ipcCalls }) => ipcCalls.postpone(callId, dueAt));
    this.#store.wakeBy(dueAt);
  }

  /** To the conversation that made the call, or to the default one if that was closed. If both are closed, the answer is dropped. */
  async #sendAnswer(source: ProcessRow, { callId, sourcePid, conversationId, posture }: IpcCall, text: string): Promise<void> {
    // What made the caller stricter may be over by now, and it asked for this before.
    const origin = { sourcePid, sourceConversationId: conversationId, posture };
    // The same run id each time, so that retries deliver the message once.
    const run = { runId: `ipc-reply:${callId}`, reason: "ipc.reply" as const };
    for (const id of new Set([conversationId, DEFAULT_CONVERSATION])) {
      const send = () => this.#send(source, { conversationId: id, message: { role: "system", text }, ...run });
      try {
        return void (await withOrigin(this.#store, origin, { pid: sourcePid, runId: run.runId, conversationId: id }, send));
      } catch (error) {
        if (!(error instanceof SysError && error.code === 409)) throw error;
      }
    }
  }

  #deliverMessage(origin: Origin, target: ProcessRow, conversationId: string | undefined, text: string, runId: string) {
    const to = { pid: target.pid, runId, conversationId: conversationIdOrDefault(conversationId) };
    return withOrigin(this.#store, origin, to, () =>
      this.#send(target, { conversationId, message: { role: "user", text }, runId, reason: "proc.ipc.deliver" }),
    );
  }

  #requirePeers(caller: Caller, pid: string): { source: ProcessRow; target: ProcessRow } {
    const { processes } = this.#store.reads;
    if (caller.agent === undefined) fail(403, "Only a process can make this call: use proc.send instead");
    const source = processes.get(caller.agent.pid) ?? fail(404, `Process not found: ${caller.agent.pid}`);
    const target = processes.get(pid);
    if (target === undefined || target.uid !== source.uid) fail(404, `Process not found: ${pid}`);
    return { source, target };
  }
}

function makeReceipt(target: ProcessRow, source: ProcessRow, conversationId: string | undefined, runId: string, queued: true | undefined) {
  const base = { ok: true as const, status: "started" as const, pid: target.pid, sourcePid: source.pid };
  return { ...base, conversationId: conversationId ?? "default", runId, ...(queued === undefined ? {} : { queued }) };
}

function formatMessage(
  source: ProcessRow,
  { message, metadata, sentAt }: { message: string; metadata: Record<string, unknown> | undefined; sentAt: number },
  call: IpcCall | null,
): string {
  const lines = [
    `Message from process \`${source.pid}\` (${source.username} uid=${source.uid}).`,
    `Sent at: ${toIso(sentAt)}.`,
    "",
    message.trim(),
  ];
  if (metadata !== undefined) lines.push("", "Metadata:", ...fenceJson(metadata));
  if (call !== null)
    lines.push(
      "",
      "IPC call:",
      `- call id: ${call.callId}`,
      `- deadline: ${toIso(call.deadlineAt)}`,
      `- reply goes to: ${call.sourcePid}`,
      "",
      "Finish this run before the deadline: your final answer is returned to the caller.",
    );
  return lines.join("\n");
}

function formatReply(
  call: IpcCall,
  { status, text, error, usage }: { status: string; text: string | null; error?: string | undefined; usage?: unknown },
): string {
  const failure = status === "ok" ? [] : [`It ended with status ${status}${error === undefined ? "" : `: ${error}`}.`];
  return [
    `[process event: ipc.reply] Process ${call.targetPid} has answered call ${call.callId} (run ${call.runId}).`,
    ...failure,
    ...fenceJson({ text, usage: usage ?? null }),
  ].join("\n");
}

function formatTimeout(call: IpcCall): string {
  return `[process event: ipc.timeout] Process ${call.targetPid} did not answer call ${call.callId} (run ${call.runId}) by ${toIso(call.deadlineAt)}. Its run may still be in progress.`;
}

function fenceJson(value: unknown): string[] {
  return ["```json", JSON.stringify(value, null, 2), "```"];
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}
