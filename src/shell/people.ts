// Names of users and groups for commands, read from /etc/passwd and /etc/group.

import { CommandError } from "./command.ts";
import type { KernelClient } from "./kernel-client.ts";

export type Person = { username: string; uid: number; gid: number; gecos: string };

export class People {
  readonly #people: readonly Person[];
  readonly #groups: readonly { name: string; gid: number; members: readonly string[] }[];

  private constructor(passwd: string, group: string) {
    this.#people = parseFields(passwd).map(([username = "", , uid, gid, gecos = ""]) => ({
      username,
      uid: Number(uid),
      gid: Number(gid),
      gecos,
    }));
    this.#groups = parseFields(group).map(([name = "", , gid, members = ""]) => ({
      name,
      gid: Number(gid),
      members: members.split(",").filter(Boolean),
    }));
  }

  static async read(link: KernelClient): Promise<People> {
    const text = async (path: string) => new TextDecoder().decode(await link.read(path, { start: 0, end: 16 * 1024 * 1024 }));
    return new People(await text("/etc/passwd"), await text("/etc/group"));
  }

  requirePerson(username: string): Person {
    return this.#people.find((person) => person.username === username) ?? failMissing(`no such user: ${username}`);
  }

  userName(uid: number): string {
    return this.#people.find((person) => person.uid === uid)?.username ?? String(uid);
  }

  groupName(gid: number): string {
    return this.#groups.find((group) => group.gid === gid)?.name ?? String(gid);
  }

  groupIdsOf({ username, gid }: Person): number[] {
    return [gid, ...this.#groups.filter((group) => group.gid !== gid && group.members.includes(username)).map((group) => group.gid)];
  }

  resolveUid(text: string): number {
    return /^\d+$/.test(text) ? Number(text) : this.requirePerson(text).uid;
  }

  resolveGid(text: string): number {
    if (/^\d+$/.test(text)) return Number(text);
    return this.#groups.find(({ name }) => name === text)?.gid ?? failMissing(`no such group: ${text}`);
  }
}

function parseFields(text: string): string[][] {
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(":"));
}

function failMissing(message: string): never {
  throw new CommandError(message);
}
