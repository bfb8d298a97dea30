// The floor of copies, as up to three processes: a source that reads a file into a TCP connection, a relay that forwards it, and
// a sink that writes it to a file and closes the connection when it is done. No checksum, no flow control of its own, no
// resuming.

import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";

export type TcpOptions =
  /** Copies on request: one line of JSON on a connection, which ends when the copy has. */
  | { part: "source" }
  | { part: "relay"; to: number }
  /** `synced`: closes the connection only when the file is synced to disk. */
  | { part: "sink"; file: string; synced: boolean };
export type Order = { file: string; to: number };

/** The size of file reads and of socket buffers: as large as the chunks of a body. */
const CHUNK_BYTES = 256 * 1024;

if (import.meta.main) {
  const options = JSON.parse(process.argv[2]!) as TcpOptions;
  const server = createServer({ allowHalfOpen: true, highWaterMark: CHUNK_BYTES }, (socket) => {
    socket.on("error", () => {});
    serve(options, socket).catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(`TCP is up at tcp://127.0.0.1:${(server.address() as AddressInfo).port}`));
  process.on("SIGTERM", () => process.exit(0));
  process.stdin.on("end", () => process.exit(0)).resume();
}

async function serve(options: TcpOptions, socket: Socket): Promise<void> {
  if (options.part === "source") return copyOnRequest(socket);
  if (options.part === "sink") {
    await pipeline(socket, createWriteStream(options.file, { highWaterMark: CHUNK_BYTES, flush: options.synced }), { end: true });
    await rm(options.file);
    socket.end();
    return;
  }
  const upstream = connect({ port: options.to, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  await Promise.all([pipeline(socket, upstream), pipeline(upstream, socket)]);
}

async function copyOnRequest(socket: Socket): Promise<void> {
  const [line] = (await once(socket, "data")) as [Buffer];
  const { file, to } = JSON.parse(line.toString()) as Order;
  const wire = connect({ port: to, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  const ended = once(wire.resume(), "end");
  await pipeline(createReadStream(file, { highWaterMark: CHUNK_BYTES }), wire);
  await ended;
  socket.end();
}
