// The floor of calls to devices, as two processes: a relay, which forwards each frame of its clients under a new id to the one
// far end that connected to it and the answer back, and that far end. Every hop parses and serializes the frame once.
//
//   echo   the far end answers at once           work   it reads the file, or runs the command in the user's shell

import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { WebSocket, WebSocketServer } from "ws";
import { makeCommandEnvironment } from "../src/device/environment.ts";
import { makeShellProgram } from "../src/device/program.ts";

export type HopsOptions =
  | { part: "relay"; connected: unknown }
  /** `answers` by syscall, taken from the gateway, so that sizes are equal. */
  | { part: "end"; does: "echo" | "work"; port: number; workspace: string; answers: Record<string, unknown> };

type Frame = { id: string; call: string; args: { path?: string; input?: string }; data?: unknown };
type EndOptions = Extract<HopsOptions, { part: "end" }>;

if (import.meta.main) {
  const options = JSON.parse(process.argv[2]!) as HopsOptions;
  if (options.part === "relay") relay(options.connected);
  else farEnd(options);
  process.on("SIGTERM", () => process.exit(0));
  process.stdin.on("end", () => process.exit(0)).resume();
}

function relay(connected: unknown): void {
  const server = createServer((_, response) => response.end());
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false });
  const waiting = new Map<string, { client: WebSocket; id: string }>();
  let end: WebSocket | null = null;
  let lastId = 0;
  const forwardAnswer = ({ id, data }: Frame) => {
    const request = waiting.get(id);
    waiting.delete(id);
    request?.client.send(JSON.stringify({ type: "res", id: request.id, ok: true, data }));
  };
  const forwardRequest = (client: WebSocket, { id, call, args }: Frame) => {
    if (call === "sys.connect") return client.send(JSON.stringify({ type: "res", id, ok: true, data: connected }));
    const routeId = String(++lastId);
    waiting.set(routeId, { client, id });
    end?.send(JSON.stringify({ type: "req", id: routeId, call, args }));
  };
  server.on("upgrade", (request, wire, head) =>
    sockets.handleUpgrade(request, wire, head, (socket) => {
      const isEnd = request.url === "/end";
      if (isEnd) end = socket;
      socket.on("message", (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as Frame;
        if (isEnd) forwardAnswer(frame);
        else forwardRequest(socket, frame);
      });
      socket.on("error", () => {});
    }),
  );
  server.listen(0, "127.0.0.1", () => console.log(`HOPS is up at http://127.0.0.1:${(server.address() as AddressInfo).port}`));
}

function farEnd(options: EndOptions): void {
  const { port, does, answers } = options;
  const socket = new WebSocket(`ws://127.0.0.1:${port}/end`, { perMessageDeflate: false });
  socket.on("open", () => console.log(`The far end is connected to http://127.0.0.1:${port}`));
  socket.on("close", () => process.exit(0));
  socket.on("message", (message: Buffer) => {
    const frame = JSON.parse(message.toString()) as Frame;
    const answer = (data: unknown) => socket.send(JSON.stringify({ type: "res", id: frame.id, ok: true, data }));
    if (does === "echo") answer(answers[frame.call]);
    else void doWork(options, frame).then(answer);
  });
}

async function doWork({ workspace }: EndOptions, { call, args: { path = "", input = "" } }: Frame): Promise<unknown> {
  if (call === "shell.exec") return { status: "completed", exitCode: 0, output: await commandOutput(workspace, input) };
  const content = await readFile(join(workspace, path), "utf8");
  return { ok: true, content, path, size: content.length };
}

function commandOutput(cwd: string, input: string): Promise<string> {
  const env = makeCommandEnvironment(process.env, "floor");
  const { file, args } = makeShellProgram(process.platform, env, input);
  const child = spawn(file, args, { cwd, env, detached: true });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve) => child.once("close", () => resolve(output)));
}
