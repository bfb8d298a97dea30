// gsv write: makes or replaces a file with text from a file of this machine or from standard input.

import { stdinBytes } from "../ask.ts";
import { CONTENT_BYTES_MAX, localText, sendable } from "../local-text.ts";
import { parsePlace, placeText } from "../place.ts";
import { mustBeOk } from "../remote-file.ts";
import { type Globals, withClient } from "../session.ts";
import { note, sayJson } from "../terminal.ts";

export async function write(flags: Globals, [text = "", file = "-"]: readonly string[]): Promise<void> {
  const place = parsePlace(text);
  const given = file === "-" ? null : await localText(file);
  await withClient(flags, async (client) => {
    // After logging in, because a password on standard input comes before the content.
    const content = given ?? sendable(await typedBytes(), "standard input");
    const { path, size } = mustBeOk(await client.call("fs.write", { ...place, content }));
    if (flags.json) return sayJson({ path, size });
    note(`Wrote ${size} bytes to ${placeText(place, path)}.`);
  });
}

function typedBytes(): Promise<Uint8Array> {
  if (process.stdin.isTTY) note("gsv: type the text; Ctrl-D on a line of its own ends it");
  return stdinBytes(CONTENT_BYTES_MAX);
}
