// The Actors port of a host: routes each address to its repositories or its processes.

import { fail } from "../../lib/sys-error.ts";
import type { Actors } from "../../ports/actors.ts";

export interface Processes {
  call(pid: string, name: string, args: object): Promise<unknown>;
}

const PROCESS = "proc:";

export function actorsOf(repos: Actors, processes: Processes): Actors {
  return {
    call: (address, name, args, http) =>
      address.startsWith(PROCESS) ? processes.call(address.slice(PROCESS.length), name, args) : repos.call(address, name, args, http),
    fetch: async (address, request) => {
      if (address.startsWith(PROCESS)) fail(404, "A process takes calls, not HTTP requests");
      return repos.fetch(address, request);
    },
  };
}
