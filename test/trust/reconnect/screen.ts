// What a follower of a process sees: events in the order of their numbers, and the live answer, piece by piece. Records what was
// missing or came twice.

import type { AnswerPiece, Client, FollowedEvent, Subscription, LiveAnswer } from "../../../src/client/client.ts";

type Live = { runId: string; modelCall: number; seq: number; text: string; isWhole: boolean };

export class Screen {
  readonly wrong: string[] = [];
  readonly following: Subscription;
  /** How often it resumed in the middle of an answer. */
  resumed = 0;
  readonly #ends = new Map<string, (text: string | null) => void>();
  readonly #texts = new Map<string, string>();
  #liveAnswer: Live | null = null;
  #lastSeq: number | null = null;

  constructor(client: Client, pid: string) {
    this.following = client.follow({
      pid,
      onEvent: (event) => this.#event(event),
      onPiece: (piece) => this.#piece(piece),
      onLiveAnswer: (live, seq) => this.#live(live, seq),
      onGap: () => this.wrong.push("events were no longer kept"),
      onError: (error) => this.wrong.push(`it cannot be followed: ${error.message}`),
    });
  }

  /** Resolves to the answer that the screen showed when the run ended. */
  ended(runId: string): Promise<string | null> {
    return new Promise((resolve) => this.#ends.set(runId, resolve));
  }

  #event({ seq, signal, payload }: FollowedEvent): void {
    if (this.#lastSeq !== null && seq !== this.#lastSeq + 1) this.wrong.push(`event ${seq} after ${this.#lastSeq}`);
    this.#lastSeq = seq;
    const runId = String(payload.runId);
    if (signal === "proc.run.output") {
      const { text } = payload;
      if (this.#texts.has(runId)) this.wrong.push(`two answers of ${runId}`);
      if (this.#liveAnswer?.runId === runId && this.#liveAnswer.isWhole && this.#liveAnswer.text !== text)
        this.wrong.push(`shown while it came: ${this.#liveAnswer.text}; then: ${text}`);
      this.#texts.set(runId, text);
    } else if (signal === "proc.run.finished") {
      this.#liveAnswer = null;
      this.#ends.get(runId)?.(this.#texts.get(runId) ?? null);
    }
  }

  #live(live: LiveAnswer | null, seq: number): void {
    this.#lastSeq ??= seq;
    this.#liveAnswer = null;
    if (live === null) return;
    const text = live.blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
    this.#liveAnswer = { runId: live.runId, modelCall: live.modelCall, seq: live.seq, text, isWhole: false };
    this.resumed++;
  }

  #piece({ runId, modelCall, seq, firstSeq = seq, event }: AnswerPiece): void {
    if (this.#liveAnswer === null || this.#liveAnswer.runId !== runId || this.#liveAnswer.modelCall !== modelCall)
      this.#liveAnswer = { runId, modelCall, seq: 0, text: "", isWhole: false };
    const answer = this.#liveAnswer;
    if (firstSeq !== answer.seq + 1) this.wrong.push(`piece ${firstSeq} after ${answer.seq} of ${runId}`);
    answer.seq = seq;
    if (event.type === "text_delta") answer.text += event.delta;
    if (event.type === "done") answer.isWhole = true;
  }
}
