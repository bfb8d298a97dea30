// chown.

import { defineCommandFile, CommandError, parseFlags } from "../command.ts";
import { People } from "../people.ts";
import { walk } from "../walk.ts";

export default defineCommandFile({
  name: "chown",
  usage: "[-R] user[:group] path...",
  doc: "Change the owner of a file. Users and groups are names or numbers; :group alone changes only the group. Only root may give files to another user. -R includes everything below a directory.",
  async run({ link, resolve }, args) {
    const { flags, rest } = parseFlags(args, { recursive: "R" });
    const [owner, ...paths] = rest;
    if (owner === undefined || paths.length === 0) throw new CommandError("missing operand", 2);
    const people = await People.read(link);
    const [user = "", group = ""] = owner.split(":");
    const uid = user === "" ? null : people.resolveUid(user);
    const gid = group === "" ? null : people.resolveGid(group);
    for (const path of paths.map(resolve)) {
      for await (const { path: at } of walk(link, path, flags.has("R"))) await link.setOwner(at, uid, gid);
    }
    return "";
  },
});
