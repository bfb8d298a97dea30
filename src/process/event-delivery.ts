// Tells the kernel what has become true, in order and each thing until it was heard. What the kernel cannot hear now stays on
// disk and is tried again after growing waits, for about an hour after the last of it became true; then it waits until the two
// next talk. How long it is tried follows from the rows, so it ends however often memory is lost meanwhile.

import type { AnswerPiece, ProcessEvent } from "../protocol/signals.ts";
import type { Events } from "./rows/events.ts";
import type { ProcessPorts } from "./kernel-port.ts";

const PAGE = 200;
/** The first wait; each further one is as long as it has been tried. */
const AGAIN_MS = 5_000;
/** No try is made later than so long after the last event, but for one that was waited for by then. */
const TRIED_MS = 60 * 60_000;

/** What the kernel could not be told; `nextTryAt` is null where it waits until the two next talk. */
export type Untold = { error: string; nextTryAt: number | null };

export class EventDelivery {
  readonly #ports: ProcessPorts;
  readonly #events: () => Events;
  readonly #changed: () => void;
  /** The number up to which the kernel has heard all; until this life has asked, the last one it found. */
  #heard: number | null = null;
  /** What is to be told once the kernel knows all that came before it; null where it does. */
  #held: (() => void)[] | null = null;
  #untold: Untold | null = null;
  #caughtUp: Promise<void> = Promise.resolve();
  /** Catching up, now or next. */
  #rounds = 0;
  #isClosed = false;

  /** `changed` is called when something was heard or could not be. */
  constructor(ports: ProcessPorts, events: () => Events, changed: () => void) {
    this.#ports = ports;
    this.#events = events;
    this.#changed = changed;
  }

  emit(events: readonly ProcessEvent[]): void {
    if (this.#untold !== null && this.#held === null) return this.#soon();
    this.#inOrder(() => this.#send(events));
  }

  /** Pieces of an answer that a life leaves behind belong to nobody: the next life asks the model anew. */
  stream(piece: AnswerPiece): void {
    if (this.#untold !== null && this.#held === null) return;
    this.#inOrder(() => this.#isClosed || this.#ports.kernel.stream(piece));
  }

  /** What the kernel has not heard, of this life or an earlier one. Resolves when it was tried. */
  catchUp(): Promise<void> {
    this.#rounds++;
    this.#held ??= [];
    this.#heard ??= this.#events().lastSeq;
    return (this.#caughtUp = this.#caughtUp.then(() => this.#catchUp()));
  }

  /** The kernel has asked for something, so it may hear now what it could not hear before. */
  contacted(): void {
    if (this.#untold !== null && this.#rounds === 0) void this.catchUp();
  }

  woke(now: number): void {
    if ((this.dueAt ?? Infinity) <= now) void this.catchUp();
  }

  close(): void {
    this.#isClosed = true;
  }

  get caughtUp(): Promise<void> {
    return this.#caughtUp;
  }

  /** When it is tried again; null also while it is. */
  get dueAt(): number | null {
    return this.#rounds > 0 ? null : (this.#untold?.nextTryAt ?? null);
  }

  get untold(): Untold | null {
    return this.#untold;
  }

  get isCatchingUp(): boolean {
    return this.#rounds > 0;
  }

  /** Whether something became true in this life that the kernel is just being told. One that never answers is waited for no longer. */
  get isTelling(): boolean {
    return this.#untold === null && this.#events().lastSeq > (this.#heard ?? 0) && this.#ageMs() < TRIED_MS;
  }

  #inOrder(told: () => void): void {
    if (this.#held !== null) this.#held.push(told);
    else told();
  }

  #send(events: readonly ProcessEvent[]): void {
    const seq = events.at(-1)?.seq ?? 0;
    const heard = () => {
      this.#heard = Math.max(this.#heard ?? 0, seq);
      this.#changed();
    };
    try {
      const told = this.#ports.kernel.emit(events);
      if (told instanceof Promise) void told.then(heard, (error: unknown) => this.#failed(error));
      else heard();
    } catch (error) {
      this.#failed(error);
    }
  }

  async #catchUp(): Promise<void> {
    const { kernel, sql } = this.#ports;
    const before = this.#untold;
    try {
      const until = this.#events().lastSeq;
      await sql.durable();
      let heard = await kernel.heardUpTo();
      while (heard < until && !this.#isClosed) {
        // Of what is no longer kept nobody can tell; what came after it still counts.
        const kept = this.#events().since(heard, PAGE);
        const events = kept.filter(({ seq }) => seq <= until);
        if (events.length === 0) break;
        await kernel.emit(events);
        heard = events.at(-1)!.seq;
      }
      // What came later is the next life's to tell, after what is left of this.
      if (this.#isClosed && heard < until) this.#held = [];
      this.#heard = Math.max(this.#heard ?? 0, until);
      this.#untold = null;
      if (before?.nextTryAt === null) this.#ports.log("the kernel was told what had been given up", { error: before.error });
    } catch (error) {
      if (!this.#isClosed) this.#failed(error);
    }
    if (--this.#rounds === 0) this.#release();
    this.#changed();
  }

  /** What has waited is told; where the kernel cannot hear, it is on disk. */
  #release(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const told of held) if (this.#untold === null) told();
  }

  /** A full disk of the kernel's, for example, or a kernel that cannot be reached. */
  #failed(error: unknown): void {
    if (this.#isClosed) return;
    const before = this.#untold;
    const ageMs = this.#ageMs();
    const nextTryAt = ageMs >= TRIED_MS ? null : this.#ports.now() + Math.max(AGAIN_MS, ageMs);
    this.#untold = { error: String(error), nextTryAt };
    if (before === null) this.#ports.log("the kernel could not be told what became true", { error: String(error) });
    if (nextTryAt === null && before?.nextTryAt !== null)
      this.#ports.log("telling the kernel was given up until it asks for something", { error: String(error) });
    this.#changed();
  }

  /** Since the last thing became true. */
  #ageMs(): number {
    return Math.max(0, this.#ports.now() - this.#events().lastAt);
  }

  /** Something more became true, which is a reason to try again. */
  #soon(): void {
    const { nextTryAt, ...untold } = this.#untold!;
    this.#untold = { ...untold, nextTryAt: Math.min(nextTryAt ?? Infinity, this.#ports.now() + AGAIN_MS) };
    this.#changed();
  }
}
