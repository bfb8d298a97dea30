import { describe, expect, it } from "vitest";
import { memoryCrypto, Random } from "../../../test/support/memory-ports.ts";
import { decryptPush, makeBrowserKeys } from "../../../test/support/push-service.ts";
import { fromBase64Url, toBase64Url } from "../../lib/base64.ts";
import { makeNodeCrypto } from "../../hosts/shared/crypto.ts";
import { encryptMessage, MESSAGE_BYTES_MAX } from "./encrypt.ts";

const bytes = (text: string) => fromBase64Url(text)!;
const crypto = makeNodeCrypto(new Uint8Array(32));

describe("encryptMessage", () => {
  it("makes of the example of RFC 8291 what the standard prints", () => {
    const receiver = {
      publicKey: bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
      authSecret: bytes("BTBZMqHH6r4Tts7J_aSIgg"),
    };
    const oneTime = {
      privateKey: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
      publicKey: bytes("BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8"),
      salt: bytes("DGv6ra1nlYgDCS1FRnbzlw"),
    };
    const plain = new TextEncoder().encode("When I grow up, I want to be a watermelon");
    expect(toBase64Url(encryptMessage(crypto, receiver, plain, oneTime, 1))).toBe(
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
    );
  });

  it("hides the length within a kilobyte, fits into what push services take, and is read by its browser only", () => {
    const [browser, other] = [makeBrowserKeys(), makeBrowserKeys()];
    const receiver = { publicKey: bytes(browser.p256dh), authSecret: bytes(browser.auth) };
    const sizes = [0, 1, 500, 1_023, 1_024, MESSAGE_BYTES_MAX].map((length) => {
      const plain = crypto.randomBytes(length);
      const message = encryptMessage(crypto, receiver, plain);
      expect(decryptPush(browser, message)).toEqual(Buffer.from(plain));
      expect(() => decryptPush(other, message)).toThrow();
      return message.length;
    });
    expect(new Set(sizes.slice(0, 4)).size).toBe(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4096);
  });

  it("uses no key and no salt twice", () => {
    const { p256dh, auth } = makeBrowserKeys();
    const receiver = { publicKey: bytes(p256dh), authSecret: bytes(auth) };
    const heads = Array.from({ length: 20 }, () => toBase64Url(encryptMessage(crypto, receiver, new Uint8Array(3)).slice(0, 86)));
    expect(new Set(heads.map((head) => head.slice(0, 21))).size).toBe(20);
    expect(new Set(heads.map((head) => head.slice(28))).size).toBe(20);
  });

  it("refuses a point that is not on the curve", () => {
    const point = new Uint8Array(65).fill(1);
    point[0] = 4;
    const receiver = { publicKey: point, authSecret: new Uint8Array(16) };
    for (const one of [crypto, memoryCrypto(new Random("push"))]) expect(() => encryptMessage(one, receiver, new Uint8Array(1))).toThrow();
  });
});
