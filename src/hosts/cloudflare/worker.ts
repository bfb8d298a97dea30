// What is deployed: the Worker that answers every request of the gateway's address, and the Durable Objects behind it.
// The Worker looks at nothing; there is one kernel, and it sees every request itself.

import { KernelObject } from "./gateway.ts";
import type { Env } from "./options.ts";
import { RepoObject } from "./repos.ts";
import { ShellObject } from "./shells.ts";

/** The kernel is one object. Another name here is another, empty gateway. */
const KERNEL = "singleton";

export { KernelObject, RepoObject, ShellObject };

export default {
  fetch: (request, env) => env.KERNEL.getByName(KERNEL).fetch(request),
} satisfies ExportedHandler<Env>;
