// groups.

import { defineCommandFile } from "../command.ts";
import { People } from "../people.ts";

export default defineCommandFile({
  name: "groups",
  usage: "[user...]",
  doc: "Print the groups of a user. Without a name, prints yours.",
  async run({ link, who }, args) {
    const people = await People.read(link);
    if (args.length === 0) return `${[...new Set([who.gid, ...who.gids])].map((gid) => people.groupName(gid)).join(" ")}\n`;
    const lines = args.map(
      (name) =>
        `${name} : ${people
          .groupIdsOf(people.requirePerson(name))
          .map((gid) => people.groupName(gid))
          .join(" ")}\n`,
    );
    return lines.join("");
  },
});
