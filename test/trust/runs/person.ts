// Somebody who asks for jobs until each was accepted, and answers what agents ask, as often as it takes.

import { CallError, type Client, ConnectionLost } from "../../../src/client/client.ts";
import type { Random } from "../crash/random.ts";
import { pause } from "../devices/asker.ts";
import { type Job, request } from "./jobs.ts";

const LOOK_EVERY_MS = 25;
const DENIED_SHARE = 0.2;

/** False where the gateway went before it said that it has it: then nobody knows, and it is sent again in the next life. */
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
  /** Calls that a yes was sent for, whether or not it came to anything. */
  readonly allowed = new Set<string>();
  isAwake = false;
  #isOver = false;

  constructor(client: () => Client, random: Random) {
    this.#client = client;
    this.#random = random;
    void this.#look();
  }

  close(): void {
    this.#isOver = true;
  }

  async #look(): Promise<void> {
    while (!this.#isOver) {
      await pause(LOOK_EVERY_MS);
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
        // The gateway went, or somebody was faster: the next look tells.
        if (!(error instanceof ConnectionLost) && !(error instanceof CallError)) throw error;
      }
    }
  }
}
