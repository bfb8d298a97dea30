// Calls that run on this device and can be cancelled: by the id of the request, or by its key, which stays the same over retries.
// Cancelling a call whose command outlived it ends the command.

import type { GatewayRequest } from "../client/connection.ts";
import type { REQ_CANCEL } from "../protocol/signal-names.ts";
import type { Payload } from "../protocol/signals.ts";

type OpenCall = { cancel: AbortController; sessionId?: string };

export class CancellableCalls {
  readonly #endSession: (sessionId: string) => void;
  /** By key if it has one, else by id. */
  readonly #calls = new Map<string, OpenCall>();
  readonly #nameById = new Map<string, string>();

  constructor(endSession: (sessionId: string) => void) {
    this.#endSession = endSession;
  }

  /** The signal that `work` gets aborts when the call is cancelled. */
  async run<T>({ id, key, args }: Pick<GatewayRequest, "id" | "key" | "args">, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const name = key ?? id;
    const call = this.#calls.get(name) ?? { cancel: new AbortController() };
    this.#calls.set(name, call);
    this.#nameById.set(id, name);
    try {
      const result = await work(call.cancel.signal);
      const { status, sessionId } = result as { status?: unknown; sessionId?: unknown };
      // A poll of a running command did not start it.
      const isStart = args.sessionId === undefined && status === "running";
      if (key !== undefined && isStart && typeof sessionId === "string") call.sessionId = sessionId;
      return result;
    } finally {
      this.#nameById.delete(id);
      if (call.sessionId === undefined) this.#calls.delete(name);
    }
  }

  /** A command has ended, so the call that started it can no longer be cancelled. */
  removeCallOfSession(sessionId: string): void {
    for (const [name, call] of this.#calls) if (call.sessionId === sessionId) this.#calls.delete(name);
  }

  /** Handles `req.cancel`. An unknown call has already ended. */
  cancel({ id, key }: Payload<typeof REQ_CANCEL>): void {
    const name = key ?? (id === undefined ? undefined : this.#nameById.get(id));
    const call = name === undefined ? undefined : this.#calls.get(name);
    if (call === undefined) return;
    call.cancel.abort(null);
    if (call.sessionId !== undefined) this.#endSession(call.sessionId);
  }
}
