// What somebody sees who shows everything a followed process does, and nothing else: events in the order of their numbers, and
// the answer that is coming, piece by piece. Says what was missing or came twice.

import type { AnswerPiece, Client, Followed, Following, LiveAnswer } from "../../../src/client/client.ts";

type Coming = { runId: string; modelCall: number; seq: number; text: string; isWhole: boolean };

export class Screen {
  readonly wrong: string[] = [];
  readonly following: Following;
  /** Pieces that came after a cut in the middle of an answer. */
  resumed = 0;
  readonly #ends = new Map<string, (text: string | null) => void>();
  readonly #texts = new Map<string, string>();
  #coming: Coming | null = null;
  #lastSeq: number | null = null;

  constructor(client: Client, pid: string) {
    this.following = client.follow({
      pid,
      onEvent: (event) => this.#event(event),
      onPiece: (piece) => this.#piece(piece),
      onLive: (live, seq) => this.#live(live, seq),
      onGap: () => this.wrong.push("events were no longer kept"),
      onError: (error) => this.wrong.push(`it cannot be followed: ${error.message}`),
    });
  }

  /** What the screen showed as the answer of a run when that was over. */
  ended(runId: string): Promise<string | null> {
    return new Promise((resolve) => this.#ends.set(runId, resolve));
  }

  #event({ seq, signal, payload }: Followed): void {
    if (this.#lastSeq !== null && seq !== this.#lastSeq + 1) this.wrong.push(`event ${seq} after ${this.#lastSeq}`);
    this.#lastSeq = seq;
    const runId = String(payload.runId);
    if (signal === "proc.run.output") {
      const { text } = payload;
      if (this.#texts.has(runId)) this.wrong.push(`two answers of ${runId}`);
      if (this.#coming?.runId === runId && this.#coming.isWhole && this.#coming.text !== text)
        this.wrong.push(`shown while it came: ${this.#coming.text}; then: ${text}`);
      this.#texts.set(runId, text);
    } else if (signal === "proc.run.finished") {
      this.#coming = null;
      this.#ends.get(runId)?.(this.#texts.get(runId) ?? null);
    }
  }

  #live(live: LiveAnswer | null, seq: number): void {
    this.#lastSeq ??= seq;
    this.#coming = null;
    if (live === null) return;
    const text = live.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
    this.#coming = { runId: live.runId, modelCall: live.modelCall, seq: live.seq, text, isWhole: false };
    this.resumed++;
  }

  #piece({ runId, modelCall, seq, firstSeq = seq, event }: AnswerPiece): void {
    if (this.#coming === null || this.#coming.runId !== runId || this.#coming.modelCall !== modelCall)
      this.#coming = { runId, modelCall, seq: 0, text: "", isWhole: false };
    const coming = this.#coming;
    if (firstSeq !== coming.seq + 1) this.wrong.push(`piece ${firstSeq} after ${coming.seq} of ${runId}`);
    coming.seq = seq;
    if (event.type === "text_delta") coming.text += event.delta;
    if (event.type === "done") coming.isWhole = true;
  }
}
