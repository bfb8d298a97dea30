// A person who sends each job until it is accepted, and answers the questions of agents, as often as it takes.

import { CallError, type Client, ConnectionLost } from "../../../src/client/client.ts";
import type { Random } from "../crash/random.ts";
import { pause } from "../devices/asker.ts";
import { type Job, request } from "./jobs.ts";

const POLL_MS = 25;
const DENIED_SHARE = 0.2;

/** False if the gateway died before it acknowledged the message: the outcome is unknown, and it is sent again after the restart. */
export async function send(client: Client, { pid, runId, ...job }: Job): Promise<boolean> {
  try {
    await client.call("proc.send", { pid, runId, message: request(job) });
    return true;
  } catch (error) {
    if (error instanceof ConnectionLost) return false;
    throw error;
  }
}

export class Approver {
  readonly #client: () => Client;
  readonly #random: Random;
  /** Calls for which an approval was sent, whether or not it took effect. */
  readonly allowed = new Set<string>();
  isAwake = false;
  #isOver = false;

  constructor(client: () => Client, random: Random) {
    this.#client = client;
    this.#random = random;
    void this.#answerQuestions();
  }

  close(): void {
    this.#isOver = true;
  }

  async #answerQuestions(): Promise<void> {
    while (!this.#isOver) {
      await pause(POLL_MS);
      if (!this.isAwake) continue;
      const client = this.#client();
      try {
        const { pending } = await client.call("proc.approval.list", {});
        for (const { pid, requestId, callId } of pending) {
          if (!this.isAwake) break;
          const decision = this.#random.chance(DENIED_SHARE) ? "deny" : "approve";
          if (decision === "approve") this.allowed.add(callId);
          await client.call("proc.hil", { pid, requestId, decision });
        }
      } catch (error) {
        // The gateway ended, or the question was answered already: the next poll tells.
        if (!(error instanceof ConnectionLost) && !(error instanceof CallError)) throw error;
      }
    }
  }
}
