// The floor of turns: a minimal server that takes a message, stores it, asks the provider, stores the answer and signals it. For
// a tool call it also reads a file and asks a second time. Its first argument says where the provider is.

import { readFile, writeFile } from "node:fs/promises";
import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type WebSocket, WebSocketServer } from "ws";

export type TurnFloorOptions = { home: string; providerPort: number; connected: unknown };

type Frame = { id: string; call: string; args: { message?: string; pid?: string; runId?: string } };
type Message = { role: string; content: string };

if (import.meta.main) await serve(JSON.parse(process.argv[2]!) as TurnFloorOptions);

async function serve({ home, providerPort, connected }: TurnFloorOptions): Promise<void> {
  const database = new DatabaseSync(join(home, "turns.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE messages (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT");
  const insert = database.prepare("INSERT INTO messages (text) VALUES (?)");
  await writeFile(join(home, "f"), "a small file\n");
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });

  const ask = (messages: Message[]) =>
    new Promise<string>((resolve, reject) => {
      const options = { agent, port: providerPort, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST" };
      const outgoing = request(options, (response) => {
        let text = "";
        response.on("data", (part: Buffer) => (text += part.toString()));
        response.on("end", () => resolve(text));
      });
      outgoing.on("error", reject);
      outgoing.end(JSON.stringify({ model: "floor", stream: true, messages }));
    });

  const turn = async (socket: WebSocket, { id, args }: Frame) => {
    const messages: Message[] = [{ role: "user", content: args.message ?? "" }];
    insert.run(args.message ?? "");
    socket.send(JSON.stringify({ type: "res", id, ok: true, data: { ok: true, status: "started", runId: args.runId } }));
    let answer = await ask(messages);
    if (answer.includes('"tool_calls"')) {
      insert.run(answer);
      messages.push({ role: "tool", content: await readFile(join(home, "f"), "utf8") });
      answer = await ask(messages);
    }
    insert.run(answer);
    socket.send(JSON.stringify({ type: "sig", signal: "proc.run.finished", payload: { pid: args.pid, runId: args.runId, status: "ok" } }));
  };

  const server = createServer((_, response) => response.end());
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false });
  server.on("upgrade", (upgrade, wire, head) =>
    sockets.handleUpgrade(upgrade, wire, head, (socket) => {
      socket.on("error", () => {});
      socket.on("message", (data: Buffer) => {
        const frame = JSON.parse(data.toString()) as Frame;
        if (frame.call === "proc.send") void turn(socket, frame);
        else socket.send(JSON.stringify({ type: "res", id: frame.id, ok: true, data: frame.call === "sys.connect" ? connected : {} }));
      });
    }),
  );
  server.listen(0, "127.0.0.1", () => console.log(`FLOOR is up at http://127.0.0.1:${(server.address() as AddressInfo).port}\n`));
  process.on("SIGTERM", () => process.exit(0));
  process.stdin.on("end", () => process.exit(0)).resume();
}
