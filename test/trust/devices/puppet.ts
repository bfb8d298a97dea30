// A scripted driver, for what the real daemon would never do: it answers when, as often and to what the campaign wants.

import { WebSocket } from "ws";

export type Asked = { id: string; call: string; args: Record<string, unknown>; key?: string };
export type DeviceAuth = { username: string; token: string };

export class Puppet {
  readonly #socket: WebSocket;
  readonly deviceId: string;
  readonly asked: Asked[] = [];
  readonly closed: Promise<number>;
  readonly #pings: (() => void)[] = [];
  #onEntered: ((ok: boolean) => void) | null = null;
  onAsked: (asked: Asked) => void = () => {};

  /** Resolves when the socket is open, before it authenticates. */
  static open(url: string, deviceId: string): Promise<Puppet> {
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`, { perMessageDeflate: false });
    const puppet = new Puppet(socket, deviceId);
    return new Promise((resolve, reject) => {
      socket.once("open", () => resolve(puppet));
      socket.once("error", reject);
    });
  }

  constructor(socket: WebSocket, deviceId: string) {
    this.#socket = socket;
    this.deviceId = deviceId;
    socket.on("error", () => {});
    socket.on("message", (data: Buffer) => this.#receive(data.toString()));
    this.closed = new Promise((resolve) =>
      socket.once("close", (code) => {
        this.#onEntered?.(false);
        for (const pong of this.#pings.splice(0)) pong();
        resolve(code);
      }),
    );
  }

  /** Authenticates. Resolves to whether it was accepted. */
  enter({ username, token }: DeviceAuth, ledger = true): Promise<boolean> {
    const client = { id: this.deviceId, version: "0", platform: "test", role: "driver" };
    const driver = { implements: ["fs.*", "shell.exec"], ledger };
    const entered = new Promise<boolean>((resolve) => (this.#onEntered = resolve));
    this.#send({ type: "req", id: "in", call: "sys.connect", args: { protocol: 1, client, driver, auth: { username, token } } });
    return entered;
  }

  answer(id: string, data: Record<string, unknown>): void {
    this.#send({ type: "res", id, ok: true, data });
  }

  /** Resolves when the gateway has received everything sent before. */
  seen(): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.resolve();
    return new Promise((resolve) => {
      this.#pings.push(resolve);
      this.#socket.send("ping");
    });
  }

  close(how: "close" | "terminate" = "close"): void {
    this.#socket[how]();
  }

  #send(frame: Record<string, unknown>): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
  }

  #receive(text: string): void {
    if (text === "pong") return this.#pings.shift()?.();
    const frame = JSON.parse(text) as Asked & { type: string; ok?: boolean };
    if (frame.type === "res" && frame.id === "in") this.#onEntered?.(frame.ok === true);
    if (frame.type !== "req") return;
    this.asked.push(frame);
    this.onAsked(frame);
  }
}
