// The floor of copies, as up to three processes: a source that reads a file into a TCP connection, a relay that hands on
// what comes, a sink that writes it to a file and hangs up when it is there. No checksum, no window, nothing to go on with.

import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";

export type TcpOptions =
  /** Copies when it is told to: one line of JSON on a connection, which ends when the copy has. */
  | { part: "source" }
  | { part: "relay"; to: number }
  /** `synced`: it hangs up when all is on the disk. */
  | { part: "sink"; file: string; synced: boolean };
export type Order = { file: string; to: number };

/** What a file is read in, and what a socket may hold: as large as the chunks of a body. */
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
  if (options.part === "source") return follow(socket);
  if (options.part === "sink") {
    await pipeline(socket, createWriteStream(options.file, { highWaterMark: CHUNK_BYTES, flush: options.synced }), { end: true });
    await rm(options.file);
    socket.end();
    return;
  }
  const onward = connect({ port: options.to, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  await Promise.all([pipeline(socket, onward), pipeline(onward, socket)]);
}

async function follow(socket: Socket): Promise<void> {
  const [line] = (await once(socket, "data")) as [Buffer];
  const { file, to } = JSON.parse(line.toString()) as Order;
  const wire = connect({ port: to, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
  const ended = once(wire.resume(), "end");
  await pipeline(createReadStream(file, { highWaterMark: CHUNK_BYTES }), wire);
  await ended;
  socket.end();
}
