// A manual page for each call, for /etc/man. Imported on first use.

import { manualPage } from "../../calls/manual-page.ts";
import { reference } from "../../generated/reference.ts";

export const manuals: Readonly<Record<string, string>> = Object.fromEntries(reference.map((call) => [`${call.name}.md`, manualPage(call)]));
