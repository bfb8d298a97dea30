// The body of an answer as a stream with limits: size, idle time, and everything else for which the watch aborts. Nothing is read
// ahead, so a slow reader causes backpressure on the sender.

import { NetError } from "../../ports/net.ts";
import type { Timer, Deadline } from "./watch.ts";

/** Where a host reads the bytes from. `read` returns null at the end; `close` releases the connection, and may be called repeatedly. */
export type ByteSource = { read(): Promise<Uint8Array | null>; close(): void };

export type BodyLimits = { bytesMax: number; idleMs: number };

export function makeLimitedBody(source: ByteSource, limits: BodyLimits, watch: Deadline, timer: Timer): ReadableStream<Uint8Array> {
  let bytes = 0;
  let isOver = false;
  let stopIdle = () => {};
  const end = () => {
    isOver = true;
    stopIdle();
    watch.end();
    source.close();
  };
  const readChunk = async (): Promise<Uint8Array | null> => {
    stopIdle = timer(limits.idleMs, () =>
      watch.fail(new NetError("timeout", `The server sent nothing for ${limits.idleMs / 1000} s: try again later`)),
    );
    try {
      let chunk = await source.read();
      while (chunk?.length === 0) chunk = await source.read();
      return chunk;
    } finally {
      stopIdle();
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        watch.signal.addEventListener(
          "abort",
          () => {
            if (isOver) return;
            end();
            controller.error(watch.signal.reason);
          },
          { once: true },
        );
      },
      async pull(controller) {
        let chunk: Uint8Array | null;
        try {
          chunk = await readChunk();
        } catch (error) {
          watch.fail(error instanceof NetError ? error : connectionCutError(error));
          return;
        }
        if (isOver) return;
        if (chunk === null) {
          end();
          controller.close();
          return;
        }
        bytes += chunk.length;
        if (bytes > limits.bytesMax) watch.fail(tooLargeError(limits.bytesMax));
        else controller.enqueue(chunk);
      },
      cancel() {
        end();
      },
    },
    { highWaterMark: 0 },
  );
}

export function tooLargeError(bytesMax: number): NetError {
  return new NetError("too_large", `The answer is larger than ${bytesMax} bytes: ask for less, or for a part of it`);
}

function connectionCutError(cause: unknown): NetError {
  return new NetError("protocol", "The connection was lost before the answer was complete: try again", cause);
}
