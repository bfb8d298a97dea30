// The key for secrets at rest: the operator's, or one generated once and kept in the object's storage, beside the tables.

import { randomBytes } from "node:crypto";
import { readBoundSecretKey, type Env } from "./options.ts";

const STORED_KEY = "secret.key";
const KEY_BYTES = 32;

export function readOrMakeSecretKey(storage: DurableObjectStorage, env: Env): Uint8Array {
  const bound = readBoundSecretKey(env);
  if (bound !== null) return bound;
  const stored = storage.kv.get<Uint8Array>(STORED_KEY);
  if (stored !== undefined) return stored;
  const generated = new Uint8Array(randomBytes(KEY_BYTES));
  storage.kv.put(STORED_KEY, generated);
  return generated;
}
