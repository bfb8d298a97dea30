// Password hashes: the stored string holds its parameters, an account that does not exist costs the same, and only a few hashes
// run at once.

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memoryCrypto, Random } from "../../../test/support/memory-ports.ts";
import { SysError } from "../../lib/sys-error.ts";
import type { Crypto, ScryptParams } from "../../ports/crypto.ts";
import { LIMITS } from "../../protocol/limits.ts";
import { Passwords } from "./passwords.ts";

const forever = new AbortController().signal;

describe("hash and verify", () => {
  it("accepts the right password and no other", async () => {
    const { passwords } = makePasswords();
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 60 }), fc.string({ maxLength: 60 }), async (password, other) => {
        const stored = await passwords.hash(password, forever);
        expect(await passwords.verify(password, stored, forever)).toBe(true);
        expect(await passwords.verify(other, stored, forever)).toBe(other === password);
      }),
    );
  });

  it("salts: hashing the same password twice gives different strings", async () => {
    const { passwords } = makePasswords();
    expect(await passwords.hash("correct horse", forever)).not.toBe(await passwords.hash("correct horse", forever));
  });

  it("stores its parameters and verifies with the stored ones", async () => {
    const { passwords, costs } = makePasswords();
    const stored = await passwords.hash("correct horse", forever);
    expect(stored).toMatch(/^\$scrypt\$ln=15,r=8,p=1\$/);
    const older = stored.replace("ln=15,r=8,p=1", "ln=14,r=4,p=2");
    expect(await passwords.verify("correct horse", older, forever)).toBe(false);
    expect(costs.at(-1)).toEqual({ cost: 2 ** 14, blockSize: 4, parallelization: 2, length: 32 });
  });

  it("hashes once, at full cost, for an account that nobody can log in to", async () => {
    const { passwords, costs } = makePasswords();
    for (const stored of [null, "!", "", "!$scrypt$ln=1,r=1,p=1$AA==$AA==", "plain text"]) {
      costs.length = 0;
      expect(await passwords.verify("correct horse", stored, forever)).toBe(false);
      expect(costs, String(stored)).toEqual([{ cost: 2 ** 15, blockSize: 8, parallelization: 1, length: 32 }]);
    }
  });

  it("does not accept a password because its hash is all zeros", async () => {
    const { passwords } = makePasswords({ scrypt: (_password, _salt, params) => Promise.resolve(new Uint8Array(params.length)) });
    expect(await passwords.verify("anything at all", null, forever)).toBe(false);
  });
});

describe("check", () => {
  it("enforces a minimum in characters and a maximum in bytes", () => {
    const { passwords } = makePasswords();
    const isAccepted = (password: string) => {
      try {
        passwords.checkLength(password, "password");
        return true;
      } catch (error) {
        expect((error as SysError).code).toBe(400);
        expect((error as SysError).message).toMatch(/^password must be/);
        return false;
      }
    };
    const { passwordChars: few, passwordBytes: many } = LIMITS;
    expect([few - 1, few, few + 1].map((length) => isAccepted("a".repeat(length)))).toEqual([false, true, true]);
    expect([many - 1, many, many + 1].map((length) => isAccepted("a".repeat(length)))).toEqual([true, true, false]);
    expect([isAccepted("é".repeat(many / 2)), isAccepted(`${"é".repeat(many / 2)}a`)]).toEqual([true, false]);
    expect(isAccepted(" ".repeat(20))).toBe(false);
  });
});

describe("the queue", () => {
  it("runs only a few hashes at once, and all of them eventually", async () => {
    const finish: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const { passwords } = makePasswords({
      async scrypt(_password, _salt, params) {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => finish.push(resolve));
        running--;
        return new Uint8Array(params.length);
      },
    });
    const all = Promise.all(Array.from({ length: 20 }, () => passwords.hash("correct horse", forever)));
    for (let done = 0; done < 20; done++) {
      await yieldToEventLoop();
      finish.shift()!();
    }
    expect((await all).length).toBe(20);
    expect(most).toBe(LIMITS.passwordHashesAtOnce);
  });

  it("skips a caller that disconnected while it waited, and continues with the next", async () => {
    const finish: (() => void)[] = [];
    let started = 0;
    const { passwords } = makePasswords({
      async scrypt(_password, _salt, params) {
        started++;
        await new Promise<void>((resolve) => finish.push(resolve));
        return new Uint8Array(params.length);
      },
    });
    const gone = new AbortController();
    const first = Array.from({ length: LIMITS.passwordHashesAtOnce }, () => passwords.hash("one", forever));
    const skipped = passwords.hash("two", gone.signal).catch((error: unknown) => error);
    const last = passwords.hash("three", forever);
    gone.abort();
    for (let i = 0; i < 3; i++) {
      await yieldToEventLoop();
      finish.shift()?.();
    }
    expect(await skipped).toMatchObject({ code: 503 });
    await Promise.all([...first, last]);
    expect(started).toBe(LIMITS.passwordHashesAtOnce + 1);
  });
});

function makePasswords(replaced: Partial<Crypto> = {}): { passwords: Passwords; costs: ScryptParams[] } {
  const costs: ScryptParams[] = [];
  const crypto = { ...memoryCrypto(new Random("passwords")), ...replaced };
  const scrypt: Crypto["scrypt"] = (password, salt, params) => {
    costs.push(params);
    return crypto.scrypt(password, salt, params);
  };
  return { passwords: new Passwords({ ...crypto, scrypt }), costs };
}

function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
