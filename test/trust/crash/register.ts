// One thing that holds one value at a time: a config key, a lock, a list of members. Each is written from one socket only, so its
// writes run in the order sent, and what it may hold after a crash is an interval: from the last acknowledged write to the last
// one sent.

type Entry = { version: number; text: string | null };

export class Register {
  readonly name: string;
  /** What it may hold, oldest first; null for absent. Never empty. */
  #window: Entry[];
  #last = 0;

  constructor(name: string, text: string | null) {
    this.name = name;
    this.#window = [{ version: 0, text }];
  }

  /** The oldest version it may hold. */
  get floor(): number {
    return this.#window[0]!.version;
  }

  /** The newest version sent. */
  get last(): number {
    return this.#last;
  }

  get isSettled(): boolean {
    return this.#window.length === 1;
  }

  get oldest(): string | null {
    return this.#window[0]!.text;
  }

  /** The value once all writes sent so far have run. */
  get newest(): string | null {
    return this.#window.at(-1)!.text;
  }

  /** Records a write before it is sent. Returns its version. */
  send(make: (version: number) => string | null): number {
    const version = ++this.#last;
    this.#window.push({ version, text: make(version) });
    return version;
  }

  /** The write was acknowledged, or a reader saw its value: nothing older may ever be seen again. */
  ack(version: number): void {
    const at = this.#window.findLastIndex((entry) => entry.version <= version);
    if (at > 0) this.#window = this.#window.slice(at);
  }

  /** A reader saw this value. If it is unknown, something newer was acknowledged meanwhile. */
  seen(text: string | null): void {
    const found = this.#window.findLast((entry) => entry.text === text);
    if (found !== undefined) this.ack(found.version);
  }

  /** The write was answered with an error that promises it did not run. */
  undo(version: number): void {
    if (this.#window.length > 1) this.#window = this.#window.filter((entry) => entry.version !== version);
  }

  /** Everything it may hold now. */
  values(): (string | null)[] {
    return this.#window.map(({ text }) => text);
  }

  /** Whether this value is allowed now. */
  allows(text: string | null): boolean {
    return this.#window.some((entry) => entry.text === text);
  }

  /** After a crash no write is in progress: the value found is final. False if it is not allowed. */
  settle(text: string | null): boolean {
    const found = this.#window.findLast((entry) => entry.text === text);
    this.#window = [found ?? { version: this.#last, text }];
    return found !== undefined;
  }

  /** The allowed values, for a message. */
  expected(): string {
    const brief = (entry: Entry) => (entry.text === null ? "absent" : JSON.stringify(entry.text.slice(0, 40)));
    const first = brief(this.#window[0]!);
    return this.isSettled ? first : `${first} to ${brief(this.#window.at(-1)!)} (${this.#window.length} possible)`;
  }
}
