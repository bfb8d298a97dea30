// What a redirected request carries along.

import { describe, expect, it } from "vitest";
import { firstHop, isRedirect, nextHop } from "./hop.ts";

const none = () => false;
const SECRETS = {
  authorization: "Bearer x",
  cookie: "a=b",
  "Proxy-Authorization": "Basic x",
  "x-api-key": "k",
  referer: "https://a.example/s",
};
const PLAIN = { accept: "text/html", "User-Agent": "me", range: "bytes=0-9" };
const body = new Uint8Array([1]);
const post = firstHop(
  { url: "https://a.example/1", method: "post", headers: { ...SECRETS, ...PLAIN, "content-type": "text/plain" }, body },
  none,
);
const get = firstHop({ url: "https://a.example/1", method: "GET", headers: { ...SECRETS, ...PLAIN } }, none);

describe("firstHop", () => {
  it("lower-cases header names, adds defaults, and drops headers that callers may not set", () => {
    const given = {
      Host: "b.example",
      "Content-Length": "5",
      "transfer-encoding": "chunked",
      Connection: "x",
      UPGRADE: "h2c",
      "X-A": " 1 ",
    };
    const { headers } = firstHop({ url: "http://a.example/", method: "GET", headers: given }, none);
    expect(headers).toMatchObject({ accept: "*/*", "accept-encoding": "identity", "x-a": "1" });
    expect(Object.keys(headers).toSorted()).toEqual(["accept", "accept-encoding", "user-agent", "x-a"]);
  });

  it("refuses headers and methods that could inject into the message", () => {
    const send = (method: string, headers: Record<string, string>) => () => firstHop({ url: "http://a.example/", method, headers }, none);
    for (const value of ["a\r\nX: y", "a\nb", "a\0", "\u{1f600}", "\u0100"]) expect(send("GET", { "x-a": value }), value).toThrow('"x-a"');
    for (const name of ["", "a b", "a:", "a\n"]) expect(send("GET", { [name]: "x" }), name).toThrow("cannot be sent");
    for (const method of ["", "GET /x", "CONNECT", "trace", "a\r\n"]) expect(send(method, {}), method).toThrow("Unsupported method");
    expect(() => firstHop({ url: "http://a.example/", method: "GET", headers: {}, body }, none)).toThrow("carries no body");
  });
});

describe("nextHop", () => {
  it("follows five status codes, and only with a Location", () => {
    for (const status of [301, 302, 303, 307, 308])
      expect([isRedirect(status, "/x"), isRedirect(status, undefined)]).toEqual([true, false]);
    for (const status of [200, 201, 300, 304, 305, 306, 400]) expect(isRedirect(status, "/x")).toBe(false);
  });

  it("changes the method as browsers do", () => {
    const methods = (method: string) =>
      [301, 302, 303, 307, 308].map(
        (status) => nextHop(firstHop({ url: "http://a.example/", method, headers: {} }, none), status, "/2", none).method,
      );
    expect(methods("GET")).toEqual(["GET", "GET", "GET", "GET", "GET"]);
    expect(methods("HEAD")).toEqual(["HEAD", "HEAD", "HEAD", "HEAD", "HEAD"]);
    expect(methods("POST")).toEqual(["GET", "GET", "GET", "POST", "POST"]);
    expect(methods("PUT")).toEqual(["PUT", "PUT", "GET", "PUT", "PUT"]);
  });

  it("keeps everything within the origin, and drops the body and its headers when it becomes a GET", () => {
    expect(nextHop(post, 307, "/2", none)).toMatchObject({ method: "POST", headers: post.headers, body });
    const became = nextHop(post, 302, "https://a.example:443/2", none);
    expect(became).toMatchObject({ method: "GET", body: null, headers: { authorization: "Bearer x", cookie: "a=b" } });
    expect(became.headers).not.toHaveProperty("content-type");
  });

  it("sends only known harmless headers to another origin: another host, port or scheme", () => {
    const plain = { accept: "text/html", "accept-encoding": "identity", range: "bytes=0-9", "user-agent": "me" };
    for (const location of ["https://b.example/", "//b.example", "https://a.example:444/", "https://sub.a.example/"])
      expect(nextHop(get, 302, location, none).headers, location).toEqual(plain);
    const open = firstHop({ url: "http://a.example/", method: "GET", headers: SECRETS }, none);
    expect(nextHop(open, 301, "https://a.example/", none).headers).not.toHaveProperty("authorization");
    const back = nextHop(nextHop(get, 302, "https://b.example/", none), 302, "https://a.example/", none);
    expect(back.headers).toEqual(plain);
  });

  it("never sends a body to another origin, a stream twice, or a request from https to http", () => {
    expect(() => nextHop(post, 307, "https://b.example/", none)).toThrow("with a body to b.example");
    expect(nextHop(post, 303, "https://b.example/", none)).toMatchObject({ method: "GET", body: null });
    const streamed = { ...post, body: new ReadableStream<Uint8Array>() };
    expect(() => nextHop(streamed, 308, "/2", none)).toThrow("streamed body again");
    expect(() => nextHop(get, 302, "http://a.example/", none)).toThrow("from https to http");
    expect(() => nextHop(get, 302, "http://localhost/", () => true)).toThrow("from https to http");
  });
});
