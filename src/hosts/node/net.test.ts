// The port over real sockets on loopback, which is allowed here as root would. What it must never do is in test/trust/egress.ts.

import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { makeAllowList } from "../../kernel/egress/allow.ts";
import { type Net, NetError } from "../../ports/net.ts";
import { makeNodeNet } from "./net.ts";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

describe("nodeNet", () => {
  it("sends the request over its own connection and returns the response", async () => {
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

  it("streams a request body, and rejects when that body fails", async () => {
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

  it("accepts an answer that arrives before the whole body was sent", async () => {
    const { url, net } = await serve((_request, response) => response.writeHead(413).end("enough"));
    const body = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(1000)) });
    const response = await net.fetch({ url, method: "POST", headers: {}, body });
    expect([response.status, await new Response(response.body).text()]).toEqual([413, "enough"]);
  });

  it("tries the next address if one does not answer", async () => {
    const { url } = await serve((_request, response) => response.end("here"));
    const { port } = new URL(url);
    const net = makeNodeNet({ isAllowed: () => true, resolve: async () => ["::1", "127.0.0.1"] });
    const response = await net.fetch({ url: `http://two.example:${port}/`, method: "GET", headers: {} });
    expect(await new Response(response.body).text()).toBe("here");
  });

  it("applies back-pressure while nobody reads", async () => {
    let sent = 0;
    const { url, net } = await serve((request, response) => {
      if (request.url === "/small") return response.end();
      const sendMore = () => {
        while (sent < 200_000_000 && !response.destroyed && response.write(Buffer.alloc(100_000))) sent += 100_000;
      };
      response.on("drain", sendMore);
      sendMore();
    });
    const { body } = await net.fetch({ url, method: "GET", headers: {} });
    // If the server were still sending, it would also send during another request to it.
    const sentMeanwhile = async () => {
      const before = sent;
      for (let at = 0; at < 10; at++) await (await net.fetch({ url: `${url}/small`, method: "GET", headers: {} })).body.cancel();
      return sent - before;
    };
    await expect.poll(sentMeanwhile).toBe(0);
    expect(sent).toBeLessThan(50_000_000);
    await body.cancel();
  });

  it("returns an empty stream for HEAD and for an answer without a body, and closes the connection", async () => {
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

  it("error messages say what is wrong and what to do", async () => {
    const closed = await serve(() => {});
    servers.pop()?.close();
    const errorText = async (net: Net, url: string) => {
      const error = await net.fetch({ url, method: "GET", headers: {} }).catch((error: unknown) => error);
      return error instanceof NetError ? `${error.kind}: ${error.message}` : error;
    };
    expect(await errorText(closed.net, closed.url)).toMatch(/^connect: .*127\.0\.0\.1.*ECONNREFUSED.*check that the server is up/);
    const strictNet = makeNodeNet({ isAllowed: () => false, resolve: async () => ["10.0.0.1"] });
    expect(await errorText(strictNet, "http://a.example/?secret")).toBe(
      "blocked: a.example resolves to a private address, and only public hosts can be reached: the user root can allow this host in Settings, Network, or with gsv config set config/net/allowed_hosts",
    );
    const unresolved = makeNodeNet({
      isAllowed: () => false,
      resolve: async () => Promise.reject(Object.assign(new Error("x"), { code: "ENOTFOUND" })),
    });
    expect(await errorText(unresolved, "http://a.example/")).toMatch(/^dns: No address for a\.example \(ENOTFOUND\)/);
  });
});

describe("kept connections", () => {
  const ask = async (net: Net, url: string, credential?: string): Promise<string> => {
    const body = new TextEncoder().encode("question");
    const response = await net.fetch({ url, method: "POST", headers: {}, body }, { keepAliveFor: credential });
    return new Response(response.body).text();
  };

  /** A server that answers with the number of the connection, counted from 1. */
  const serveNumbers = async () => {
    const numbers = new Map<unknown, number>();
    const closed: number[] = [];
    const served = await serve((request, response) => {
      const { socket } = request;
      if (!numbers.has(socket)) {
        const number = numbers.size + 1;
        numbers.set(socket, number);
        socket.once("close", () => closed.push(number));
      }
      if (request.url === "/cut") return void socket.destroy();
      if (request.url === "/long") return void response.write(String(numbers.get(socket)));
      response.end(String(numbers.get(socket)));
    });
    return { ...served, closed };
  };

  it("are used again for the same origin and credential, and for no other", async () => {
    const { url, net } = await serveNumbers();
    expect([await ask(net, url, "a"), await ask(net, url, "a"), await ask(net, `${url}/other`, "a")]).toEqual(["1", "1", "1"]);
    expect([await ask(net, url, "b"), await ask(net, url, ""), await ask(net, url), await ask(net, url, "a")]).toEqual([
      "2",
      "3",
      "4",
      "1",
    ]);
  });

  it("are not used for two requests at once, nor after an answer that was not read to its end", async () => {
    const { url, net, closed } = await serveNumbers();
    expect((await Promise.all([ask(net, url, "a"), ask(net, url, "a")])).toSorted()).toEqual(["1", "2"]);
    const response = await net.fetch({ url: `${url}/long`, method: "POST", headers: {} }, { keepAliveFor: "b" });
    await response.body.cancel();
    expect(await ask(net, url, "b")).toBe("4");
    await expect.poll(() => closed).toEqual([3]);
  });

  it("that the server has closed are replaced, and the request is sent again", async () => {
    const { url, net } = await serveNumbers();
    expect(await ask(net, url, "a")).toBe("1");
    // A new connection that is cut is not tried again.
    await expect(ask(net, `${url}/cut`, "b")).rejects.toMatchObject({ kind: "protocol" });
    // The kept one is cut, and so is the new one.
    await expect(ask(net, `${url}/cut`, "a")).rejects.toMatchObject({ kind: "protocol" });
    expect(await ask(net, url, "a")).toBe("4");
    for (const server of servers) server.closeIdleConnections();
    expect(await ask(net, url, "a")).toBe("5");
  });

  it("are checked again before each use, and closed if their address may not be reached any more", async () => {
    const { url, closed } = await serveNumbers();
    let isListed = true;
    const net = makeNodeNet({ isAllowed: () => isListed, resolve: async () => ["127.0.0.1"] });
    const named = `http://model.example:${new URL(url).port}/`;
    expect([await ask(net, named, "a"), await ask(net, named, "a")]).toEqual(["1", "1"]);
    isListed = false;
    await expect(ask(net, named, "a")).rejects.toMatchObject({ kind: "blocked" });
    await expect.poll(() => closed).toEqual([1]);
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
  return { url, net: makeNodeNet({ isAllowed: makeAllowList("127.0.0.1", undefined) }), requests };
}
