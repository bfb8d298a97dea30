// gsv capability: lists and changes what the groups of a gateway may do.

import { Problem } from "../terminal/problem.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printNote, printJson, printTable } from "../terminal/terminal.ts";
import { requireGroup } from "./group.ts";

export async function capabilityList(flags: Globals, [only]: readonly string[]): Promise<void> {
  const [capabilities, names] = await withClient(flags, async (client) => {
    const [{ capabilities: all }, { groups }] = await Promise.all([
      client.call("sys.capability.list", {}),
      client.call("sys.group.list", {}),
    ]);
    const names = new Map(groups.map(({ gid, name }) => [gid, name]));
    if (only === undefined) return [all, names] as const;
    const { gid } = await requireGroup(client, only);
    return [all.filter((capability) => capability.gid === gid), names] as const;
  });
  if (flags.json) return printJson({ capabilities });
  printTable(
    ["GID", "GROUP", "CAPABILITY"],
    capabilities.map(({ gid, capability }) => [gid, names.get(gid) ?? "-", capability]),
  );
}

export async function capabilityGrant(flags: Globals, [group = "", capability = ""]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const { gid, name } = await requireGroup(client, group);
    const { changed } = await client.call("sys.capability.grant", { gid, capability });
    if (flags.json) return printJson({ changed });
    printNote(changed ? `Group ${name} may now use ${capability}.` : `Group ${name} already had ${capability}.`);
  });
}

export async function capabilityRevoke(flags: Globals, [group = "", capability = ""]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const { gid, name } = await requireGroup(client, group);
    const { changed } = await client.call("sys.capability.revoke", { gid, capability });
    if (flags.json) printJson({ changed });
    if (!changed) throw new Problem(`Group ${name} was not granted ${capability}: gsv capability list ${name} shows its capabilities`);
    printNote(`Group ${name} no longer has ${capability}.`);
  });
}
