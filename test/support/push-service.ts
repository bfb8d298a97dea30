// A push service on loopback and the browsers behind it: keeps what is sent to it, checks who has sent it (RFC 8292) and decrypts it
// (RFC 8291). It must never use our code: it is the other side.

import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { PushPayload } from "../../src/protocol/push-message.ts";
import { startLocalServer } from "./mcp/server.ts";

export type BrowserKeys = { privateKey: Buffer; p256dh: string; auth: string };
export type ReceivedPush = { path: string; headers: IncomingHttpHeaders; body: Buffer; claims: Record<string, unknown>; key: string };

/** Only the browser itself knows its private keys. */
export type TestBrowser = { privateKeys: BrowserKeys; endpoint: string; keys: { p256dh: string; auth: string } };

export type PushService = {
  url: string;
  received: ReceivedPush[];
  /** Answers the next requests, the first one first; afterwards all are accepted. */
  answers: { status: number; headers?: Record<string, string> }[];
  /** A browser that can be subscribed. */
  makeBrowser(): TestBrowser;
  /** What was sent to this browser, in order. */
  read(browser: TestBrowser): PushPayload[];
  close(): Promise<void>;
};

export async function startPushService(): Promise<PushService> {
  const received: ReceivedPush[] = [];
  const answers: PushService["answers"] = [];
  let browsers = 0;
  const server = await startLocalServer(async (request, response) => {
    const { url = "", headers } = request;
    const body = Buffer.from(await readBytes(request));
    received.push({ path: url, headers, body, ...readAuthorization(headers.authorization ?? "", server.origin) });
    const { status, headers: more } = answers.shift() ?? { status: 201 };
    response.writeHead(status, { ...more, location: `${server.origin}/message/1` }).end();
  });
  return {
    url: server.origin,
    received,
    answers,
    makeBrowser() {
      const keys = makeBrowserKeys();
      const endpoint = `${server.origin}/push/${++browsers}-${randomBytes(12).toString("hex")}`;
      return { privateKeys: keys, endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } };
    },
    read: ({ endpoint, privateKeys }) =>
      received
        .filter(({ path }) => endpoint.endsWith(path))
        .map(({ body }) => JSON.parse(decryptPush(privateKeys, body).toString()) as PushPayload),
    close: () => server.close(),
  };
}

async function readBytes(request: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

export function makeBrowserKeys(): BrowserKeys {
  const ecdh = createECDH("prime256v1");
  ecdh.generateKeys();
  return { privateKey: ecdh.getPrivateKey(), p256dh: ecdh.getPublicKey("base64url"), auth: randomBytes(16).toString("base64url") };
}

/** Throws if the message is not for these keys. */
export function decryptPush({ privateKey, p256dh, auth }: BrowserKeys, message: Uint8Array): Buffer {
  const body = Buffer.from(message);
  const [salt, idLength] = [body.subarray(0, 16), body[20]!];
  const sender = body.subarray(21, 21 + idLength);
  const record = body.subarray(21 + idLength);
  if (record.length > body.readUInt32BE(16)) throw new Error("more than one record");
  const ecdh = createECDH("prime256v1");
  ecdh.setPrivateKey(privateKey);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), Buffer.from(p256dh, "base64url"), sender]);
  const input = Buffer.from(hkdfSync("sha256", ecdh.computeSecret(sender), Buffer.from(auth, "base64url"), info, 32));
  const key = Buffer.from(hkdfSync("sha256", input, salt, "Content-Encoding: aes128gcm\0", 16));
  const nonce = Buffer.from(hkdfSync("sha256", input, salt, "Content-Encoding: nonce\0", 12));
  const decipher = createDecipheriv("aes-128-gcm", key, nonce).setAuthTag(record.subarray(-16));
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
  const end = padded.findLastIndex((byte) => byte !== 0);
  if (padded[end] !== 2) throw new Error("no end of the last record");
  return padded.subarray(0, end);
}

/** The claims of a token that is signed with the key it comes with, and for this service. */
function readAuthorization(header: string, audience: string): { claims: Record<string, unknown>; key: string } {
  const [, text = "", claims = "", signature = "", key = ""] = /^vapid t=([\w-]+\.([\w-]+))\.([\w-]+), k=([\w-]+)$/.exec(header) ?? [];
  const point = Buffer.from(key, "base64url");
  const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33).toString("base64url")];
  const publicKey = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const isSigned = verify("sha256", Buffer.from(text), { key: publicKey, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"));
  const parsed = JSON.parse(Buffer.from(claims, "base64url").toString()) as Record<string, unknown>;
  if (!isSigned || parsed.aud !== audience) throw new Error(`a message that is not signed for ${audience}`);
  return { claims: parsed, key };
}
