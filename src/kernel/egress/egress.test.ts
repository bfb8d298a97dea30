// The limits, without a network: scripted answers, and a timer that fires when the test says so.

import { describe, expect, it } from "vitest";
import { NetError } from "../../ports/net.ts";
import { type EgressResponse, Egress } from "./egress.ts";
import type { Hop } from "./hop.ts";
import { EGRESS } from "./limits.ts";

describe("Egress", () => {
  it("passes on the answer without reading ahead", async () => {
    const wire = new Script(() => answer(200, {}, [3, 0, 4]));
    const response = await wire.net.fetch(get("http://a.example/x"));
    expect([response.status, response.url, wire.reads]).toEqual([200, "http://a.example/x", 0]);
    const reader = response.body.getReader();
    expect((await reader.read()).value?.length).toBe(3);
    expect(wire.reads).toBe(1);
    expect((await reader.read()).value?.length).toBe(4);
    expect((await reader.read()).done).toBe(true);
    await expect.poll(() => [wire.closed, wire.timers.size]).toEqual([1, 0]);
  });

  it("fails a body one byte over the limit, and immediately if content-length announces it", async () => {
    const wire = new Script(({ target }) => answer(200, target.url.pathname === "/told" ? { "content-length": "11" } : {}, [5, 6]));
    expect(await size(wire, "http://a.example/", { bytesMax: 11 })).toBe(11);
    await expect(size(wire, "http://a.example/", { bytesMax: 10 })).rejects.toMatchObject({ kind: "too_large" });
    await expect(wire.net.fetch(get("http://a.example/told"), { bytesMax: 10 })).rejects.toMatchObject({ kind: "too_large" });
    const head = { ...get("http://a.example/told"), method: "HEAD" };
    expect((await wire.net.fetch(head, { bytesMax: 10 })).status).toBe(200);
    await expect.poll(() => [wire.closed, wire.timers.size]).toEqual([4, 0]);
  });

  it("times out when the server is silent, and when nobody reads the body", async () => {
    const wire = new Script(() => answer(200, {}, [1, Number.NaN]));
    const silent = await wire.net.fetch(get("http://a.example/"), { idleMs: 7 });
    const reader = silent.body.getReader();
    await reader.read();
    const waiting = reader.read();
    while (wire.reads < 2) await Promise.resolve();
    wire.fire(7);
    await expect(waiting).rejects.toMatchObject({ kind: "timeout" });
    const unread = await wire.net.fetch(get("http://a.example/"), { timeoutMs: 1e9 });
    wire.fire(EGRESS.totalMsMax);
    await expect(unread.body.getReader().read()).rejects.toMatchObject({ kind: "timeout" });
    await expect.poll(() => [wire.closed, wire.timers.size]).toEqual([2, 0]);
  });

  it("lets the caller abort before sending, while sending, and while reading", async () => {
    const wire = new Script(({ target }) => (target.url.pathname === "/hangs" ? null : answer(200, {}, [1, Number.NaN])));
    await expect(wire.net.fetch(get("http://a.example/"), { signal: AbortSignal.abort() })).rejects.toMatchObject({ kind: "aborted" });
    expect(wire.hops).toHaveLength(0);
    const sending = new AbortController();
    const sent = wire.net.fetch(get("http://a.example/hangs"), { signal: sending.signal });
    while (wire.hops.length === 0) await Promise.resolve();
    sending.abort();
    await expect(sent).rejects.toMatchObject({ kind: "aborted" });
    const reading = new AbortController();
    const response = await wire.net.fetch(get("http://a.example/"), { signal: reading.signal });
    reading.abort(new Error("enough"));
    await expect(response.body.getReader().read()).rejects.toMatchObject({ kind: "aborted" });
    const cancelled = await wire.net.fetch(get("http://a.example/"));
    await cancelled.body.cancel();
    await expect.poll(() => [wire.closed, wire.timers.size]).toEqual([2, 0]);
  });

  it("follows five redirects, checks each, and closes every intermediate answer", async () => {
    const wire = new Script(({ target }) => {
      const left = Number(target.url.pathname.slice(1));
      return left === 0 ? answer(200, {}, []) : answer(302, { location: left === 99 ? "http://10.0.0.1/" : `/${left - 1}` }, [9]);
    });
    expect((await wire.net.fetch(get("http://a.example/5"))).url).toBe("http://a.example/0");
    await expect.poll(() => wire.closed).toBe(5);
    await expect(wire.net.fetch(get("http://a.example/6"))).rejects.toMatchObject({ kind: "too_many_redirects" });
    await expect(wire.net.fetch(get("http://a.example/99"))).rejects.toMatchObject({ kind: "blocked" });
    await expect.poll(() => [wire.closed, wire.hops.length]).toEqual([12, 13]);
  });

  it("sends eight requests at a time to one host; others are queued, and an aborted one leaves the queue", async () => {
    const wire = new Script(() => answer(200, {}, [1]));
    const all = Array.from({ length: 12 }, (_, at) => wire.net.fetch(get(`http://a.example/${at}`)));
    const leaving = new AbortController();
    const aborted = wire.net.fetch(get("http://a.example/12"), { signal: leaving.signal });
    const other = await wire.net.fetch(get("http://b.example/"));
    await other.body.cancel();
    expect(wire.hops.filter(({ target }) => target.host === "a.example")).toHaveLength(8);
    leaving.abort();
    await expect(aborted).rejects.toMatchObject({ kind: "aborted" });
    for (const response of all) await (await response).body.cancel();
    expect(wire.hops.map(({ target }) => target.url.pathname)).not.toContain("/12");
    await expect.poll(() => [wire.hops.length, wire.most, wire.timers.size]).toEqual([13, 9, 0]);
  });

  it("cancels the stream of a request body that nobody will read", async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
    const wire = new Script(() => null);
    await expect(wire.net.fetch({ url: "http://10.0.0.1/", method: "POST", headers: {}, body })).rejects.toBeInstanceOf(NetError);
    expect([isCancelled, wire.hops.length]).toEqual([true, 0]);
  });
});

type Reply = { status: number; headers: Record<string, string>; sizes: number[] };

/** The body has one chunk of each size; NaN is a chunk that never arrives. */
function answer(status: number, headers: Record<string, string>, sizes: number[]): Reply {
  return { status, headers, sizes };
}

class Script {
  readonly net: Egress;
  readonly hops: Hop[] = [];
  readonly timers = new Set<{ ms: number; fire: () => void }>();
  reads = 0;
  closed = 0;
  most = 0;
  #open = 0;

  constructor(reply: (hop: Hop) => Reply | null) {
    this.net = new Egress({
      isAllowed: () => false,
      timer: (ms, fire) => {
        const entry = { ms, fire };
        this.timers.add(entry);
        return () => this.timers.delete(entry);
      },
      send: async (hop, signal) => {
        this.hops.push(hop);
        this.most = Math.max(this.most, ++this.#open);
        const given = reply(hop);
        if (given !== null) return this.#answer(given);
        return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      },
    });
  }

  fire(ms: number): void {
    const due = [...this.timers].filter((entry) => entry.ms === ms);
    for (const entry of due) this.timers.delete(entry);
    for (const entry of due) entry.fire();
  }

  #answer({ status, headers, sizes }: Reply): EgressResponse {
    const left = [...sizes];
    let isClosed = false;
    const read = async () => {
      this.reads++;
      const size = left.shift();
      if (Number.isNaN(size)) return new Promise<null>(() => {});
      return size === undefined ? null : new Uint8Array(size);
    };
    const close = () => {
      if (!isClosed) this.closed++;
      if (!isClosed) this.#open--;
      isClosed = true;
    };
    return { status, headers, body: { read, close } };
  }
}

function get(url: string): { url: string; method: string; headers: Record<string, string> } {
  return { url, method: "GET", headers: {} };
}

async function size(wire: Script, url: string, options: { bytesMax: number }): Promise<number> {
  return (await new Response((await wire.net.fetch(get(url), options)).body).bytes()).length;
}
