// The names of groups: from the list where one may read it, else from the file that everybody may.

import { useEffect, useMemo } from "preact/hooks";
import { call, sentence } from "./call.ts";
import { Latest } from "./latest.ts";
import { connected, may } from "./session.ts";

export type Group = { gid: number; name: string; members: string[] };

export function useGroups(): readonly Group[] {
  const latest = useMemo(() => new Latest<Group[]>(read, sentence), []);
  useEffect(() => void latest.refetch(), [connected.value]);
  return latest.value.value ?? [];
}

async function read(): Promise<Group[]> {
  if (may("sys.group.list")) return (await call("sys.group.list", {})).groups;
  const file = await call("fs.read", { path: "/etc/group" });
  if (!("content" in file) || typeof file.content !== "string") return [];
  return file.content.split("\n").flatMap((line) => {
    const [name, , gid, members] = line.replace(/^\s*\d+\t/, "").split(":");
    if (name === undefined || !/^\d+$/.test(gid ?? "")) return [];
    return [{ gid: Number(gid), name, members: (members ?? "").split(",").filter((one) => one !== "") }];
  });
}
