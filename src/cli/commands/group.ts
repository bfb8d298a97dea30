// gsv group: manages groups of users. A group is given by name or gid.

import type { Client } from "../../client/client.ts";
import { Problem } from "../terminal/problem.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printNote, printText, printJson, printTable } from "../terminal/terminal.ts";

type MembersFlags = Globals & { add?: boolean; remove?: boolean; none?: boolean };

export async function groupList(flags: Globals): Promise<void> {
  const { groups } = await withClient(flags, (client) => client.call("sys.group.list", {}));
  if (flags.json) return printJson({ groups });
  printTable(
    ["GID", "GROUP", "MEMBERS"],
    groups.map(({ gid, name, members }) => [gid, name, members.join(",") || "-"]),
  );
}

export async function groupAdd(flags: Globals, [name = ""]: readonly string[]): Promise<void> {
  const { group } = await withClient(flags, (client) => client.call("sys.group.create", { name }));
  if (flags.json) return printJson({ group });
  printNote(
    `Added group ${group.name} (gid ${group.gid}). It has no capabilities yet; to grant one: gsv capability grant ${group.name} CAPABILITY`,
  );
}

export async function groupRemove(flags: Globals, [group = ""]: readonly string[]): Promise<void> {
  await withClient(flags, async (client) => {
    const { gid, name } = await requireGroup(client, group);
    const { removed } = await client.call("sys.group.remove", { gid });
    printNote(removed ? `Removed group ${name}.` : `There is no group ${name}.`);
  });
}

/** Without users, prints the members; with users, replaces them, or adds or removes the named ones. */
export async function groupMembers(flags: MembersFlags, [group = "", ...users]: readonly string[]): Promise<void> {
  if ([flags.add, flags.remove, flags.none].filter(Boolean).length > 1) throw new Problem("Use only one of --add, --remove and --none");
  if ((flags.add || flags.remove) && users.length === 0) throw new Problem("Name the users to add or remove");
  if (flags.none && users.length > 0) throw new Problem("--none removes all members: do not name users with it");
  await withClient(flags, async (client) => {
    const found = await requireGroup(client, group);
    if (users.length === 0 && !flags.none) {
      if (flags.json) return printJson({ group: found });
      for (const member of found.members) printText(member);
      return;
    }
    const members = flags.add
      ? [...new Set([...found.members, ...users])]
      : flags.remove
        ? found.members.filter((member) => !users.includes(member))
        : users;
    const { group: changed } = await client.call("sys.group.members", { gid: found.gid, members });
    if (flags.json) return printJson({ group: changed });
    printNote(`Group ${changed.name}: ${changed.members.join(", ") || "nobody"}`);
  });
}

export async function requireGroup(client: Client, text: string): Promise<{ gid: number; name: string; members: string[] }> {
  const { groups } = await client.call("sys.group.list", {});
  const found = groups.find(({ name }) => name === text) ?? groups.find(({ gid }) => String(gid) === text);
  if (found === undefined) throw new Problem(`No such group: ${text}. gsv group list shows all groups`);
  return found;
}
