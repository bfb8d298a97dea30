// Text in and out of git's bytes.

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lossy = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const encoder = new TextEncoder();

export function toBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** What is not UTF-8 becomes the replacement character. */
export function toText(bytes: Uint8Array): string {
  return lossy.decode(bytes);
}

/** Undefined where the bytes are not text: a NUL, or not UTF-8. */
export function asText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
