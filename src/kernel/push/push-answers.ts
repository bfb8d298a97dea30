// Takes answers to questions from the notifications of browsers: their service worker is not connected, so it sends them over HTTP, with
// the proof that came with the message. The answer is then the syscall proc.hil of that user, like any other.

import { z } from "zod";
import { fail } from "../../lib/sys-error.ts";
import type { Caller } from "../../protocol/caller.ts";
import { makeUserCaller } from "../agents/process-caller.ts";
import { toSysError } from "../failure.ts";
import type { Gate } from "../gate.ts";
import type { Store } from "../store.ts";
import { isProofOf } from "./answers.ts";
import { isSubscriptionLive } from "./push.ts";

export type PushAnswerOutcome = { status: number; body: { ok: true } | { error: { code: number; message: string } } };

const Sent = z.object({
  subscriptionId: z.string().min(1).max(128),
  requestId: z.string().min(1).max(128),
  decision: z.enum(["approve", "deny"]),
  proof: z.string().min(1).max(200),
});

export class PushAnswers {
  readonly #store: Store;
  readonly #gate: Gate;

  constructor(store: Store, gate: Gate) {
    this.#store = store;
    this.#gate = gate;
  }

  async take(sent: unknown, address: string, signal: AbortSignal): Promise<PushAnswerOutcome> {
    try {
      const { success, data } = Sent.safeParse(sent);
      if (!success) fail(400, "An answer needs subscriptionId, requestId, decision and proof");
      const { requestId, decision } = data;
      await this.#gate.call(this.#authenticate(data, address), "proc.hil", { requestId, decision }, signal);
      return { status: 200, body: { ok: true } };
    } catch (error) {
      const { log, crypto } = this.#store.ports;
      const { code, message } = toSysError(error, () => log.reportIncident(crypto.uuid(), { call: "push.answer", address }, error));
      if (code === 401) log.warn("refused", { call: "push.answer", status: code, address });
      return { status: code, body: { error: { code, message } } };
    }
  }

  #authenticate({ proof, ...answer }: z.infer<typeof Sent>, address: string): Caller {
    const { reads, ports } = this.#store;
    const subscription = reads.pushSubscriptions.find(answer.subscriptionId);
    const answerKey = reads.pushSubscriptions.keys()?.answerKey ?? null;
    if (subscription === undefined || answerKey === null || !isProofOf(ports.crypto, answerKey, answer, proof))
      fail(401, "This answer was not accepted: answer in GSV");
    // It may have been offered before this was turned off.
    if (answer.decision === "approve" && !subscription.mayAllow) fail(403, "This browser may not allow from a notification: answer in GSV");
    if (!isSubscriptionLive(reads, subscription)) fail(401, "This browser is signed out: sign in to GSV");
    const { tokenId } = subscription;
    const expiresAt = reads.tokens.get(tokenId)!.expiresAt;
    return { ...makeUserCaller(reads, subscription.uid), connectionId: "push", address, credential: { kind: "token", tokenId, expiresAt } };
  }
}
