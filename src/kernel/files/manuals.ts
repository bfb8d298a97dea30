// A manual page for each call, for /etc/man. Imported on first use.

import { manual } from "../../protocol/manual.ts";
import { reference } from "../../generated/reference.ts";

export const manuals: Readonly<Record<string, string>> = Object.fromEntries(reference.map((call) => [`${call.name}.md`, manual(call)]));
