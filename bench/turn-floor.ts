// The floor of turns: a minimal server that takes a message, stores it, asks the provider, stores the answer and signals it. For
// a tool call it also reads a file and asks a second time. It sends the first part of an answer when it arrives; of a message "stream
// N", each piece to every client. Its first argument says where the provider is.

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

  const ask = (messages: Message[], onPart: (text: string) => void) =>
    new Promise<string>((resolve, reject) => {
      const options = { agent, port: providerPort, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST" };
      const outgoing = request(options, (response) => {
        let text = "";
        response.on("data", (part: Buffer) => {
          const piece = part.toString();
          text += piece;
          onPart(piece);
        });
        response.on("end", () => resolve(text));
      });
      outgoing.on("error", reject);
      outgoing.end(JSON.stringify({ model: "floor", stream: true, messages }));
    });

  const clients = new Set<WebSocket>();
  const pieceFrame = ({ pid, runId }: Frame["args"], delta: string) =>
    JSON.stringify({ type: "sig", signal: "proc.run.stream", payload: { pid, runId, event: { type: "text_delta", delta } } });
  /** Sends the first part to the client who asked. */
  const firstPart = (socket: WebSocket, args: Frame["args"]) => {
    let isFirst = true;
    return (part: string) => {
      if (isFirst && part.includes('"content"')) socket.send(pieceFrame(args, part.slice(0, 20)));
      isFirst = false;
    };
  };
  /** Parses each piece and sends it to every client. */
  const everyPiece = (args: Frame["args"]) => {
    let rest = "";
    return (part: string) => {
      const events = `${rest}${part}`.split("\n\n");
      rest = events.pop()!;
      for (const event of events) {
        if (!event.startsWith("data: {")) continue;
        const { choices } = JSON.parse(event.slice(6)) as { choices: { delta: { content?: string } }[] };
        const text = choices[0]?.delta.content;
        if (text === undefined) continue;
        const frame = pieceFrame(args, text);
        for (const client of clients) client.send(frame);
      }
    };
  };

  const turn = async (socket: WebSocket, { id, args }: Frame) => {
    const messages: Message[] = [{ role: "user", content: args.message ?? "" }];
    insert.run(args.message ?? "");
    socket.send(JSON.stringify({ type: "res", id, ok: true, data: { ok: true, status: "started", runId: args.runId } }));
    const onPart = args.message?.startsWith("stream") === true ? everyPiece(args) : firstPart(socket, args);
    let answer = await ask(messages, onPart);
    if (answer.includes('"tool_calls"')) {
      insert.run(answer);
      messages.push({ role: "tool", content: await readFile(join(home, "f"), "utf8") });
      answer = await ask(messages, onPart);
    }
    insert.run(answer);
    socket.send(JSON.stringify({ type: "sig", signal: "proc.run.finished", payload: { pid: args.pid, runId: args.runId, status: "ok" } }));
  };

  const server = createServer((_, response) => response.end());
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, clientTracking: false });
  server.on("upgrade", (upgrade, wire, head) =>
    sockets.handleUpgrade(upgrade, wire, head, (socket) => {
      clients.add(socket);
      socket.on("close", () => clients.delete(socket));
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
