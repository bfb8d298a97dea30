// A caller without the client's retries: nothing is repeated by itself, every answer is counted, and one that does not come in
// time is a hang.

import { WebSocket } from "ws";
import { sleep } from "../../../src/lib/sleep.ts";
import type { AnyFrame } from "../../support/raw-socket.ts";

export type Answer = AnyFrame;

/** Longer than the gateway's timeout for a device. */
const HANG_MS = 150_000;
const BACK_MS = 60_000;

export class Asker {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, (answer: Answer) => void>();
  #count = 0;
  hangs = 0;
  /** Answers to no open request. */
  strays = 0;

  static async enter(url: string, auth: Record<string, unknown>): Promise<Asker> {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`, { perMessageDeflate: false });
    await new Promise<void>((resolve, reject) => socket.once("open", resolve).once("error", reject));
    const asker = new Asker(socket);
    const client = { id: `asker-${Math.random()}`, version: "0", platform: "test", role: "user" };
    const { ok, error } = await asker.once("sys.connect", { protocol: 1, client, auth });
    if (ok !== true) throw new Error(error?.message);
    return asker;
  }

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => this.#receive(JSON.parse(data.toString()) as AnyFrame));
  }

  /** One request and its answer, whatever it is. */
  once(call: string, args: Record<string, unknown>, key?: string): Promise<Answer> {
    const id = `q${++this.#count}`;
    this.#socket.send(JSON.stringify({ type: "req", id, call, args, ...(key === undefined ? {} : { key }) }));
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.hangs++;
        this.#waiting.delete(id);
        resolve({ type: "none", error: { code: 0, message: `no answer to ${call} within ${HANG_MS} ms` } });
      }, HANG_MS);
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
    });
  }

  /** Repeats the request with the same key until the device is online; resolves when a command it started has ended. */
  async until(call: string, args: Record<string, unknown>, key: string): Promise<Answer> {
    const since = Date.now();
    let answer = await this.once(call, args, key);
    while (answer.error?.code === 503 && Date.now() - since < BACK_MS) {
      await pause(50);
      answer = await this.once(call, args, key);
    }
    if (answer.data?.status === "running") await this.#waitForEnd(String(answer.data.sessionId));
    return answer;
  }

  close(): void {
    this.#socket.close();
  }

  async #waitForEnd(sessionId: string): Promise<void> {
    for (let isRunning = true; isRunning;) {
      const { data, error } = await this.once("shell.exec", { sessionId, input: "", after: 0 });
      isRunning = data?.status === "running" || error?.code === 503;
    }
  }

  #receive(frame: AnyFrame): void {
    if (frame.type !== "res") return;
    const waiting = this.#waiting.get(String(frame.id));
    this.#waiting.delete(String(frame.id));
    if (waiting === undefined) this.strays++;
    else waiting(frame);
  }
}

export function pause(ms: number): Promise<void> {
  return sleep(ms, new AbortController().signal);
}
