// Calls that this device carries out and that somebody may cancel: by the number of the request, or by its key, which is the
// same however often it is sent. Cancelling a call whose command outlived it ends the command.

import type { LineRequest } from "../client/connection.ts";
import type { REQ_CANCEL } from "../protocol/signal-names.ts";
import type { Payload } from "../protocol/signals.ts";

type Under = { cancel: AbortController; sessionId?: string };

export class Cancels {
  readonly #endSession: (sessionId: string) => void;
  /** By key where it has one, else by number. */
  readonly #calls = new Map<string, Under>();
  readonly #names = new Map<string, string>();

  constructor(endSession: (sessionId: string) => void) {
    this.#endSession = endSession;
  }

  /** `work` gets a signal that says when nobody wants it any more. */
  async run<T>({ id, key, args }: Pick<LineRequest, "id" | "key" | "args">, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const name = key ?? id;
    const under = this.#calls.get(name) ?? { cancel: new AbortController() };
    this.#calls.set(name, under);
    this.#names.set(id, name);
    try {
      const result = await work(under.cancel.signal);
      const { status, sessionId } = result as { status?: unknown; sessionId?: unknown };
      // A look at a command that runs did not start it.
      const isStart = args.sessionId === undefined && status === "running";
      if (key !== undefined && isStart && typeof sessionId === "string") under.sessionId = sessionId;
      return result;
    } finally {
      this.#names.delete(id);
      if (under.sessionId === undefined) this.#calls.delete(name);
    }
  }

  /** A command has ended: nothing is left to cancel of the call that started it. */
  sessionEnded(sessionId: string): void {
    for (const [name, under] of this.#calls) if (under.sessionId === sessionId) this.#calls.delete(name);
  }

  /** `req.cancel`: what is not known here has ended. */
  cancel({ id, key }: Payload<typeof REQ_CANCEL>): void {
    const name = key ?? (id === undefined ? undefined : this.#names.get(id));
    const under = name === undefined ? undefined : this.#calls.get(name);
    if (under === undefined) return;
    under.cancel.abort(null);
    if (under.sessionId !== undefined) this.#endSession(under.sessionId);
  }
}
