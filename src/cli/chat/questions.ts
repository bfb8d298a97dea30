// Questions to the person at this terminal: which one is open, and whether a key may answer it. A key pressed before the person
// can have read the question must not answer it, so the question is armed only after a pause in typing; while a message is half
// typed, only Tab arms it.

import type { Question } from "./tool-call.ts";

/** Longer than fast typists pause between two keys. */
export const QUIET_MS = 700;

export class Questions {
  #waiting: Question[] = [];
  #isArmed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #quietMs: number;
  /** Called when a key may answer the open question. */
  onArmed: () => void = () => {};

  constructor(quietMs = QUIET_MS) {
    this.#quietMs = quietMs;
  }

  get openQuestion(): Question | null {
    return this.#waiting[0] ?? null;
  }

  get acceptsKeys(): boolean {
    return this.#isArmed && this.#waiting.length > 0;
  }

  /** Returns true if the caller should show the question now. */
  add(question: Question): boolean {
    if (this.#waiting.some(({ requestId }) => requestId === question.requestId)) return false;
    this.#waiting.push(question);
    return this.#waiting.length === 1;
  }

  /** Removes questions that were answered, here or elsewhere, or withdrawn. Returns true if another one is to be shown now. */
  remove(isOver: (question: Question) => boolean): boolean {
    const before = this.openQuestion;
    this.#waiting = this.#waiting.filter((question) => !isOver(question));
    if (this.openQuestion === before) return false;
    this.ignoreKeys();
    return this.openQuestion !== null;
  }

  /** Restarts the pause, after a key was pressed or a question shown. */
  restartPause(isTyping: boolean): void {
    this.ignoreKeys();
    if (this.openQuestion === null || isTyping) return;
    this.#timer = setTimeout(() => this.acceptKeys(), this.#quietMs);
  }

  acceptKeys(): void {
    this.#isArmed = true;
    this.onArmed();
  }

  ignoreKeys(): void {
    clearTimeout(this.#timer);
    this.#isArmed = false;
  }
}

/** Always with a scope: without one the gateway grants more. */
export const EXACTLY = { remember: true, scope: "exact" } as const;

export type Decision = { decision: "approve" | "deny"; reason?: string } & Partial<typeof EXACTLY>;

/** The line that confirms a decision. */
export function decisionLine({ decision, remember, reason }: Decision): string {
  if (decision === "deny") return reason === undefined ? "denied" : `denied: ${reason}`;
  return remember === true ? "allowed, and exactly this for a day; to review or revoke it: gsv approvals" : "allowed once";
}
