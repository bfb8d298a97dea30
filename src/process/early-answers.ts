// Answers of people that come before the process has written down that it waits for them. The kernel tells of a question and of
// its answer on two ways, and where both live in objects of their own, the answer may be the first to arrive. In memory only: a
// new life of the process sends again what it did not hear the end of, and finds the answer there.

const KEPT_MAX = 100;

export class EarlyAnswers<T> {
  readonly #answers = new Map<string, T>();

  add(requestId: string, answer: T): void {
    this.#answers.set(requestId, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= KEPT_MAX) return;
      this.#answers.delete(oldest);
    }
  }

  /** Any call that waits for it may ask: several calls can be one question. */
  get(requestId: string): T | undefined {
    return this.#answers.get(requestId);
  }
}
