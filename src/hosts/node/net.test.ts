// The port over real sockets, on loopback, which root listed here. What it must never do is in test/trust/egress.ts.

import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { allowList } from "../../kernel/egress/allow.ts";
import { type Net, NetError } from "../../ports/net.ts";
import { nodeNet } from "./net.ts";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

describe("nodeNet", () => {
  it("sends what it is given over a connection of its own and gives back what comes", async () => {
    const { url, net, requests } = await serve((_request, response) => {
      response.writeHead(207, { "X-Two": ["a", "b"], "Set-Cookie": ["c=1, 2", "d=3"] }).end("hello");
    });
    const body = new TextEncoder().encode("body");
    const response = await net.fetch({ url: `${url}/a%20b?c=d#e`, method: "put", headers: { "X-A": "1", Host: "else" }, body });
    expect([response.status, response.url, await new Response(response.body).text()]).toEqual([207, `${url}/a%20b?c=d`, "hello"]);
    expect(response.headers).toMatchObject({ "x-two": "a, b", "set-cookie": "c=1, 2\nd=3" });
    const { method, url: path, headers } = requests[0]!;
    expect([method, path, headers["x-a"], headers["content-length"], headers.connection]).toEqual(["PUT", "/a%20b?c=d", "1", "4", "close"]);
    expect([headers.host, headers["accept-encoding"]]).toEqual([new URL(url).host, "identity"]);
  });

  it("streams a body out, and tells the caller when that body fails", async () => {
    const { url, net } = await serve((request, response) => {
      let bytes = 0;
      request.on("data", (chunk: Buffer) => (bytes += chunk.length)).on("end", () => response.end(String(bytes)));
    });
    const parts = [3, 0, 70_000, 4];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const size = parts.shift();
        if (size === undefined) controller.close();
        else controller.enqueue(new Uint8Array(size));
      },
    });
    const response = await net.fetch({ url, method: "POST", headers: {}, body });
    expect(await new Response(response.body).text()).toBe("70007");
    const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("no more")) });
    await expect(net.fetch({ url, method: "POST", headers: {}, body: broken })).rejects.toMatchObject({ kind: "aborted" });
  });

  it("takes an answer that comes before the whole body was sent", async () => {
    const { url, net } = await serve((_request, response) => response.writeHead(413).end("enough"));
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(1000)) });
    const response = await net.fetch({ url, method: "POST", headers: {}, body });
    expect([response.status, await new Response(response.body).text()]).toEqual([413, "enough"]);
  });

  it("tries the next address where one does not answer", async () => {
    const { url } = await serve((_request, response) => response.end("here"));
    const { port } = new URL(url);
    const net = nodeNet({ isAllowed: () => true, resolve: async () => ["::1", "127.0.0.1"] });
    const response = await net.fetch({ url: `http://two.example:${port}/`, method: "GET", headers: {} });
    expect(await new Response(response.body).text()).toBe("here");
  });

  it("holds the sender back while nobody reads", async () => {
    let sent = 0;
    const { url, net } = await serve((request, response) => {
      if (request.url === "/small") return response.end();
      const more = () => {
        while (sent < 200_000_000 && !response.destroyed && response.write(Buffer.alloc(100_000))) sent += 100_000;
      };
      response.on("drain", more);
      more();
    });
    const { body } = await net.fetch({ url, method: "GET", headers: {} });
    // As long as more goes out, it goes out during a request of the same server as well.
    const sentMeanwhile = async () => {
      const before = sent;
      for (let at = 0; at < 10; at++) await (await net.fetch({ url: `${url}/small`, method: "GET", headers: {} })).body.cancel();
      return sent - before;
    };
    await expect.poll(sentMeanwhile).toBe(0);
    expect(sent).toBeLessThan(50_000_000);
    await body.cancel();
  });

  it("answers a HEAD, and an answer without a body, with an empty stream and lets go", async () => {
    const { url, net } = await serve((request, response) => response.writeHead(request.url === "/204" ? 204 : 200, { "x-a": "1" }).end());
    for (const [path, method] of [
      ["/204", "GET"],
      ["/", "HEAD"],
      ["/", "GET"],
    ] as const) {
      const response = await net.fetch({ url: `${url}${path}`, method, headers: {} });
      expect([await new Response(response.body).text(), response.headers["x-a"]]).toEqual(["", "1"]);
    }
  });

  it("says what is wrong and what to do", async () => {
    const closed = await serve(() => {});
    servers.pop()?.close();
    const said = async (net: Net, url: string) => {
      const error = await net.fetch({ url, method: "GET", headers: {} }).catch((error: unknown) => error);
      return error instanceof NetError ? `${error.kind}: ${error.message}` : error;
    };
    expect(await said(closed.net, closed.url)).toMatch(/^connect: .*127\.0\.0\.1.*ECONNREFUSED.*check that the server is up/);
    const shut = nodeNet({ isAllowed: () => false, resolve: async () => ["10.0.0.1"] });
    expect(await said(shut, "http://a.example/?secret")).toBe(
      "blocked: a.example leads to a private address, and only public hosts can be reached: root can allow this host with sys.config.set config/net/allowed_hosts",
    );
    const lost = nodeNet({
      isAllowed: () => false,
      resolve: async () => Promise.reject(Object.assign(new Error("x"), { code: "ENOTFOUND" })),
    });
    expect(await said(lost, "http://a.example/")).toMatch(/^dns: No address for a\.example \(ENOTFOUND\)/);
  });
});

async function serve(listener: RequestListener): Promise<{ url: string; net: Net; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    request.on("error", () => {});
    listener(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, net: nodeNet({ isAllowed: allowList("127.0.0.1", undefined) }), requests };
}
