// A manual page for each call, for /etc/man. Imported when somebody first looks.

import { manual } from "../../protocol/manual.ts";
import { reference } from "../../generated/reference.ts";

export const manuals: Readonly<Record<string, string>> = Object.fromEntries(reference.map((call) => [`${call.name}.md`, manual(call)]));
