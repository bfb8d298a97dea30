import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import type { McpFetch } from "./fetch.ts";
import { Sse, Streamable, UNANSWERED } from "./transports.ts";

const URL_OF_SERVER = new URL("https://mcp.example/mcp");
const callOf = (id: RequestId): JSONRPCMessage => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "t" } });
const answerOf = (id: RequestId): JSONRPCMessage => ({ jsonrpc: "2.0", id, result: { content: [] } });
const cancelOf = (requestId: RequestId): JSONRPCMessage => ({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
const textOf = (message: JSONRPCMessage) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

type Exchange = { body: string; signal: AbortSignal | null | undefined; events: ReadableStreamDefaultController<Uint8Array> };

/** A server whose answers the test writes: every POST and GET is a stream of events. */
function startServer() {
  const exchanges: Exchange[] = [];
  const fetch: McpFetch = async (_, init) => {
    const stream = new ReadableStream<Uint8Array>({
      start(events) {
        const { signal, body } = init ?? {};
        signal?.addEventListener("abort", () => events.error(signal.reason));
        exchanges.push({ body: typeof body === "string" ? body : "", signal, events });
      },
    });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  };
  const write = (at: number, text: string) => exchanges[at]!.events.enqueue(new TextEncoder().encode(text));
  return { fetch, exchanges, write, end: (at: number) => exchanges[at]!.events.close() };
}

async function openStreamable() {
  const server = startServer();
  const transport = new Streamable(URL_OF_SERVER, { fetch: server.fetch });
  const received = listen(transport);
  await transport.start();
  return { ...server, transport, received };
}

/** As the client does it. */
function listen(transport: Streamable | Sse): JSONRPCMessage[] {
  const received: JSONRPCMessage[] = [];
  const before = transport.onmessage;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onmessage = (message) => {
    before?.(message);
    received.push(message);
  };
  return received;
}

describe("over streamable HTTP", () => {
  test("a request ends with its answer, although the server leaves the stream open", async () => {
    const { transport, received, exchanges, write } = await openStreamable();
    await Promise.all([transport.send(callOf(1)), transport.send(callOf(2))]);
    write(0, textOf(answerOf(1)));
    await expect.poll(() => received).toEqual([answerOf(1)]);
    expect(exchanges.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
    await transport.close();
  });

  test("a request ends when it is given up", async () => {
    const { transport, exchanges } = await openStreamable();
    await transport.send(callOf("a"));
    void transport.send(cancelOf("a"));
    await expect.poll(() => exchanges.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
    await transport.close();
  });

  test("a request whose stream ends without its answer fails at once, and one that was answered does not", async () => {
    const { transport, received, write, end, exchanges } = await openStreamable();
    await Promise.all([transport.send(callOf(1)), transport.send(callOf(2)), transport.send(callOf(3))]);
    end(0);
    await expect.poll(() => received).toMatchObject([{ id: 1, error: { message: expect.stringContaining("ended"), data: UNANSWERED } }]);
    exchanges[1]!.events.error(new Error("too large"));
    await expect.poll(() => received).toHaveLength(2);
    write(2, textOf(answerOf(3)));
    end(2);
    await expect.poll(() => received.slice(2)).toEqual([answerOf(3)]);
    await transport.close();
    expect(received).toHaveLength(3);
  });
});

test("over SSE a POST ends with the answer to its request, or when that is given up", async () => {
  const server = startServer();
  const transport = new Sse(URL_OF_SERVER, { fetch: server.fetch });
  const received = listen(transport);
  const started = transport.start();
  await expect.poll(() => server.exchanges).toHaveLength(1);
  server.write(0, "event: endpoint\ndata: /messages\n\n");
  await started;
  const sent = [1, 2].map((id) => transport.send(callOf(id)).catch(() => {}));
  await expect.poll(() => server.exchanges).toHaveLength(3);
  server.write(0, textOf(answerOf(1)));
  await expect.poll(() => received).toEqual([answerOf(1)]);
  expect(server.exchanges.slice(1).map(({ signal }) => signal?.aborted)).toEqual([true, false]);
  void transport.send(cancelOf(2)).catch(() => {});
  await expect.poll(() => server.exchanges[2]!.signal?.aborted).toBe(true);
  await transport.close();
  await Promise.all(sent);
});
