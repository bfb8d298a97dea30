// id.

import { defineCommandFile } from "../command.ts";
import { People } from "../people.ts";

export default defineCommandFile({
  name: "id",
  usage: "[-u | -g | -G | -n] [user]",
  doc: "Print the ids and names of a user and their groups. Without a name, prints yours. -u prints only the user id, -g the primary group id, -G all group ids, -n names instead of ids.",
  async run({ link, who }, args) {
    const flags = args.filter((arg) => arg.startsWith("-")).join("");
    const name = args.find((arg) => !arg.startsWith("-"));
    const people = await People.read(link);
    const person = name === undefined ? { ...who, gecos: "" } : people.requirePerson(name);
    const gids = name === undefined ? [...new Set([who.gid, ...who.gids])] : people.groupIdsOf(person);
    const isNamed = flags.includes("n");
    const group = (gid: number) => (isNamed ? people.groupName(gid) : String(gid));
    if (flags.includes("u")) return `${isNamed ? person.username : person.uid}\n`;
    if (flags.includes("G")) return `${gids.map(group).join(" ")}\n`;
    if (flags.includes("g")) return `${group(person.gid)}\n`;
    const groups = gids.map((gid) => `${gid}(${people.groupName(gid)})`).join(",");
    return `uid=${person.uid}(${person.username}) gid=${person.gid}(${people.groupName(person.gid)}) groups=${groups}\n`;
  },
});
