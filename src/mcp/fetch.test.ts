import { describe, expect, test } from "vitest";
import type { Net, NetOptions, NetRequest } from "../ports/net.ts";
import { makeMessageFetch, makeMetadataFetch } from "./fetch.ts";
import { MESSAGE_BYTES } from "./messages.ts";

type Answer = { status?: number; type?: string; parts: (string | Uint8Array)[]; headers?: Record<string, string> };

function netOf({ status = 200, type = "application/json", parts, headers = {} }: Answer) {
  const sent: { request: NetRequest; options: NetOptions | undefined }[] = [];
  let isCancelled = false;
  const net: Net = {
    fetch: async (request, options) => {
      sent.push({ request, options });
      const left = parts.map((part) => (typeof part === "string" ? new TextEncoder().encode(part) : part));
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const part = left.shift();
          if (part === undefined) controller.close();
          else controller.enqueue(part);
        },
        cancel: () => void (isCancelled = true),
      });
      return { status, headers: { "content-type": type, ...headers }, url: request.url, body };
    },
  };
  return { net, sent, wasCancelled: () => isCancelled };
}

const read = async (answer: Answer, make = makeMessageFetch) => (await make(netOf(answer).net)("https://a.example/mcp")).text();

describe("documents", () => {
  test("are passed on whole", async () => {
    expect(await read({ parts: ['{"a":', "1}"] })).toBe('{"a":1}');
  });

  test("have a size, and the rest is not read", async () => {
    const part = `"${"x".repeat(1024 * 1024)}",`;
    const { net, wasCancelled } = netOf({ parts: ["[", part, part, part, part, part, part] });
    await expect((await makeMessageFetch(net)("https://a.example/")).text()).rejects.toThrow(/larger than 4096 KiB/);
    await expect.poll(wasCancelled).toBe(true);
    await expect(read({ parts: ["x".repeat(300_000)] }, makeMetadataFetch)).rejects.toThrow(/larger than 256 KiB/);
  });

  test.each([
    ["deep", "[".repeat(100) + "]".repeat(100)],
    ["wide", `[${"0,".repeat(200_000)}0]`],
    ["a long list", JSON.stringify({ jsonrpc: "2.0", id: 1, result: { content: Array.from({ length: 5_000 }, () => 0) } })],
    ["a long batch", JSON.stringify(Array.from({ length: 2_000 }, (_, id) => ({ jsonrpc: "2.0", id, result: {} })))],
  ])("that are %s are refused before they are parsed", async (_, text) => {
    await expect(read({ parts: [text] })).rejects.toThrow(/nested too deeply or has too many values/);
    await expect(read({ parts: [`event: message\ndata: ${text}\n\n`], type: "text/event-stream" })).rejects.toThrow(/nested too deeply/);
  });

  test("that are not there are not read", async () => {
    const { net, wasCancelled } = netOf({ status: 404, parts: ["<p>", "not here", "</p>"] });
    const response = await makeMetadataFetch(net)("https://a.example/.well-known/oauth-protected-resource");
    expect([response.status, await response.text()]).toEqual([404, ""]);
    await expect.poll(wasCancelled).toBe(true);
  });

  test("may hold long texts and long lists of the tool's own", async () => {
    const csv = "1,2,3\n".repeat(100_000);
    const message = {
      jsonrpc: "2.0",
      id: 1,
      result: { content: [{ type: "text", text: csv }], structuredContent: { rows: Array.from({ length: 5_000 }, (_, n) => n) } },
    };
    expect(JSON.parse(await read({ parts: [JSON.stringify(message)] }))).toEqual(message);
  });
});

describe("event streams", () => {
  const stream = async (...parts: string[]) => {
    const { net } = netOf({ parts, type: "text/event-stream; charset=utf-8" });
    const response = await makeMessageFetch(net)("https://a.example/mcp");
    const texts: string[] = [];
    for await (const part of response.body!) texts.push(new TextDecoder().decode(part));
    return texts;
  };

  test("pass on whole events, wherever they were cut and however their lines end", async () => {
    const text = "id: 1\ndata: {}\n\ndata: é\n\n";
    expect(await stream(text)).toEqual(["id: 1\ndata: {}\n\n", "data: é\n\n"]);
    expect(await stream(...Array.from(text))).toEqual(["id: 1\ndata: {}\n\n", "data: é\n\n"]);
    expect(await stream("data: 1\r\n\r", "\ndata: 2\r\r", "data: 3")).toEqual(["data: 1\n\n", "data: 2\n\n"]);
    expect(await stream("data:1\n\r\nid\n", "data: 2\r\n\n")).toEqual(["data: 1\n\n", "id: \ndata: 2\n\n"]);
  });

  test("lose comments, fields that nobody knows, and events without any field", async () => {
    expect(await stream(": hello\n\n\n\nevent: message\n:\nother: x\ndata: a\ndata:b\n\n: bye\n\n")).toEqual([
      "event: message\ndata: a\ndata: b\n\n",
    ]);
  });

  test("ask for a pause before they are opened again", async () => {
    expect(await stream("retry: 0\ndata: 1\n\n", "id: a\r\nretry:499\r\n\r\n", "retry: 3000\n\n", "data: retry: 0\n\n")).toEqual([
      "retry: 500\ndata: 1\n\n",
      "id: a\nretry: 500\n\n",
      "retry: 3000\n\n",
      "data: retry: 0\n\n",
    ]);
  });

  test.each([
    ["a line separator in the text", (json: string) => `data: ${json.replace('"text"', '"te\u2028xt"')}\n\n`],
    ["two lines of data", (json: string) => `data: {\ndata: ${json.slice(1)}\n\n`],
    ["an event before it that ends with LF and CRLF", (json: string) => `data: 1\n\r\ndata: ${json}\n\n`],
    ["a space before it", (json: string) => `data:   ${json}\n\n`],
  ])("refuse a long list with %s", async (_, write) => {
    const content = Array.from({ length: 5_000 }, () => ({ type: "text", text: "" }));
    await expect(stream(write(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { content } })))).rejects.toThrow(/too many values/);
  });

  test("are read no faster than four hundred events in a second", async () => {
    const from = performance.now();
    expect(await stream("data: {}\n\n".repeat(600))).toHaveLength(600);
    expect(performance.now() - from).toBeGreaterThan(400);
  });

  test("end at an event that is too large", async () => {
    await expect(stream(`data: "${"x".repeat(MESSAGE_BYTES)}"`, "y")).rejects.toThrow(/larger than/);
  });
});

describe("requests", () => {
  test("carry text, leave redirects to the caller, and have no silence limit for messages", async () => {
    const { net, sent } = netOf({ status: 307, parts: [], headers: { location: "https://b.example/" } });
    const response = await makeMessageFetch(net)(new URL("https://a.example/mcp"), { method: "POST", headers: { A: "b" }, body: "{}" });
    expect([response.status, response.headers.get("location")]).toEqual([307, "https://b.example/"]);
    expect(sent[0]?.request).toMatchObject({ url: "https://a.example/mcp", method: "POST", headers: { a: "b" } });
    expect(sent[0]?.options).toMatchObject({ redirects: "manual", isLong: true });
    await makeMetadataFetch(net)("https://a.example/", { method: "POST", body: new URLSearchParams({ a: "b c" }) });
    expect(new TextDecoder().decode(sent[1]?.request.body as Uint8Array)).toBe("a=b+c");
    expect(sent[1]?.options).toMatchObject({ redirects: "manual", timeoutMs: 10_000 });
    await expect(makeMessageFetch(net)("https://a.example/", { method: "POST", body: new Blob([]) })).rejects.toThrow(/must be text/);
  });

  test("answers without a body, and cookies are not kept", async () => {
    const { net } = netOf({ status: 204, parts: ["x"], headers: { "set-cookie": "a=b" } });
    const response = await makeMessageFetch(net)("https://a.example/");
    expect([response.status, response.body, response.headers.get("set-cookie")]).toEqual([204, null, null]);
  });
});
