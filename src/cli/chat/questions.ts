// Questions to the person at this terminal: which one is open, and whether a key may answer it. A key that was pressed before
// somebody can have read the question must not answer it, so nothing does until the keys have been quiet for a moment; and where
// a message is half typed, not until Tab says that the next key is meant for the question.

import type { Question } from "./tool-call.ts";

/** Longer than fast typists pause between two keys. */
export const QUIET_MS = 700;

export class Questions {
  #waiting: Question[] = [];
  #isArmed = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #quietMs: number;
  /** It can be answered now. */
  onArmed: () => void = () => {};

  constructor(quietMs = QUIET_MS) {
    this.#quietMs = quietMs;
  }

  get open(): Question | null {
    return this.#waiting[0] ?? null;
  }

  get isArmed(): boolean {
    return this.#isArmed && this.#waiting.length > 0;
  }

  /** True where it is the one to be shown now. */
  add(question: Question): boolean {
    if (this.#waiting.some(({ requestId }) => requestId === question.requestId)) return false;
    this.#waiting.push(question);
    return this.#waiting.length === 1;
  }

  /** Those were answered, here or elsewhere, or nobody wants to know any more. True where another one is to be shown now. */
  remove(isOver: (question: Question) => boolean): boolean {
    const before = this.open;
    this.#waiting = this.#waiting.filter((question) => !isOver(question));
    if (this.open === before) return false;
    this.disarm();
    return this.open !== null;
  }

  /** A key was pressed, or a question shown: only quiet counts from here. */
  wait(isTyping: boolean): void {
    this.disarm();
    if (this.open === null || isTyping) return;
    this.#timer = setTimeout(() => this.arm(), this.#quietMs);
  }

  arm(): void {
    this.#isArmed = true;
    this.onArmed();
  }

  disarm(): void {
    clearTimeout(this.#timer);
    this.#isArmed = false;
  }
}

/** Always with its scope: without one the gateway remembers more. */
export const EXACTLY = { remember: true, scope: "exact" } as const;

export type Decision = { decision: "approve" | "deny"; reason?: string } & Partial<typeof EXACTLY>;

/** What is said of an answer once the gateway has it. */
export function decided({ decision, remember, reason }: Decision): string {
  if (decision === "deny") return reason === undefined ? "refused" : `refused: ${reason}`;
  return remember === true ? "allowed, and exactly this for a day: gsv approvals lists and revokes it" : "allowed once";
}
