import { createPublicKey, verify } from "node:crypto";
import { expect, it } from "vitest";
import { makeNodeCrypto } from "../../hosts/shared/crypto.ts";
import { findContact, makeAuthorization } from "./authorization.ts";

it("signs for the origin of the push service, with its port, for less than a day", async () => {
  const crypto = makeNodeCrypto(new Uint8Array(32));
  const keys = crypto.makeKeyPair();
  const about = { endpoint: "https://push.example:8443/send/x", contact: "https://gsv.example", now: 1_000_000 };
  const [, text = "", claims = "", signature = "", key = ""] = /^vapid t=([\w-]+\.([\w-]+))\.([\w-]+), k=([\w-]+)$/.exec(
    await makeAuthorization(crypto, keys, about),
  )!;
  expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toEqual({
    aud: "https://push.example:8443",
    exp: 1_000 + 12 * 3600,
    sub: "https://gsv.example",
  });
  const point = Buffer.from(key, "base64url");
  expect(point).toEqual(Buffer.from(keys.publicKey));
  const [x, y] = [point.subarray(1, 33).toString("base64url"), point.subarray(33).toString("base64url")];
  const publicKey = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const isSigned = verify("sha256", Buffer.from(text), { key: publicKey, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"));
  expect(isSigned).toBe(true);
});

it("names whom root has set, or else the gateway's address if it may be public", () => {
  expect(findContact("mailto:ann@example.com", "http://gsv.example")).toBe("mailto:ann@example.com");
  for (const chosen of [undefined, "", "ann@example.com", "http://gsv.example"])
    expect(findContact(chosen, "https://gsv.example"), chosen).toBe("https://gsv.example");
  expect(findContact(undefined, "http://localhost:8787")).toBe("mailto:gsv@localhost");
});
