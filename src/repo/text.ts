// Converts between text and the bytes of git objects.

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lossy = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
const encoder = new TextEncoder();

export function toBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Invalid UTF-8 becomes the replacement character. */
export function decodeTextLossily(bytes: Uint8Array): string {
  return lossy.decode(bytes);
}

/** Undefined if the bytes are not text: they contain a NUL or are not UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}
