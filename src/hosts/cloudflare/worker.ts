// The deployment: the Worker that answers every request to the gateway's address, and the Durable Objects behind it. The Worker
// checks nothing; the one kernel sees every request itself.

import { KernelObject } from "./gateway.ts";
import { type Env, kernelOf } from "./options.ts";
import { ProcessObject } from "./processes.ts";
import { RepoObject } from "./repos.ts";
import { ShellObject } from "./shells.ts";

export { KernelObject, ProcessObject, RepoObject, ShellObject };

export default {
  fetch: (request, env) => kernelOf(env).fetch(request),
} satisfies ExportedHandler<Env>;
