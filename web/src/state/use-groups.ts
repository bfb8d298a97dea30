// All groups: from sys.group.list if the user may call it, else from /etc/group, which everybody may read.

import { useEffect, useMemo } from "preact/hooks";
import { call, describeError } from "./call.ts";
import { Latest } from "./latest.ts";
import { connectionCount, mayCall } from "./session.ts";

export type Group = { gid: number; name: string; members: string[] };

/** They are read again when `gids` change: one of them may be new, and no signal tells everybody about groups. */
export function useGroups(gids: readonly number[] = []): readonly Group[] {
  const latest = useMemo(() => new Latest<Group[]>(readGroups, describeError), []);
  useEffect(() => void latest.refetch(), [connectionCount.value, gids.join()]);
  return latest.value.value ?? [];
}

async function readGroups(): Promise<Group[]> {
  if (mayCall("sys.group.list")) return (await call("sys.group.list", {})).groups;
  const file = await call("fs.read", { path: "/etc/group" });
  if (!("content" in file) || typeof file.content !== "string") return [];
  return file.content.split("\n").flatMap((line) => {
    const [name, , gid, members] = line.replace(/^\s*\d+\t/, "").split(":");
    if (name === undefined || !/^\d+$/.test(gid ?? "")) return [];
    return [{ gid: Number(gid), name, members: (members ?? "").split(",").filter((one) => one !== "") }];
  });
}
