// Answers of people that may arrive before the process has recorded the question. The kernel returns the question as the result
// of a call and delivers the answer as a message; where kernel and process are separate objects, the message can arrive first.
// Kept in memory only: after a restart the process sends unfinished calls again, and the kernel then finds the answer.

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

  /** Does not remove the answer: several calls can share one question. */
  get(requestId: string): T | undefined {
    return this.#answers.get(requestId);
  }
}
