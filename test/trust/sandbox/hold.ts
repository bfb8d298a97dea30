// How long work holds the thread in which this runs: the processor time that passes between two turns of its event loop. Other load
// on the machine makes turns late, but not expensive.

const TICK_MS = 2;

export class HoldMeter {
  #longest = 0;
  #last = process.threadCpuUsage();
  readonly #timer = setInterval(() => this.#measure(), TICK_MS);

  /** The longest hold until now, in milliseconds. */
  end(): number {
    clearInterval(this.#timer);
    this.#measure();
    return Math.round(this.#longest * 10) / 10;
  }

  #measure(): void {
    const { user, system } = process.threadCpuUsage(this.#last);
    this.#last = process.threadCpuUsage();
    this.#longest = Math.max(this.#longest, (user + system) / 1000);
  }
}
