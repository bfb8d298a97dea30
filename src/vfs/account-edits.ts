// Turns an edited /etc/passwd, /etc/group or /etc/shadow into the calls that make the change. The whole file is checked before
// the first call; an edit that no call can make is refused as a whole, with the line and what to use instead. This file knows
// lines, not accounts.

import { FileError } from "../hardware/filesystem.ts";

export type AccountFile = "passwd" | "shadow" | "group";

export type AccountEdit = { call: string; args: Record<string, unknown>; says: string };

/** The fields of each line and its line number, by name. */
type ParsedLines = Map<string, { at: number; fields: string[] }>;

const FIELDS = { passwd: 7, shadow: 9, group: 4 };
const FIELD_NAMES = {
  passwd: ["name", "password", "uid", "gid", "gecos", "home", "shell"],
  shadow: ["name", "password", "last change", "minimum", "maximum", "warning", "inactivity", "expiry", "reserved"],
  group: ["name", "password", "gid", "members"],
};
const LOCK = "!";

export function computeAccountEdits(file: AccountFile, present: readonly string[], wanted: string): AccountEdit[] {
  const before = parseLines(file, present);
  const after = parseLines(file, wanted.split("\n"));
  const edits: AccountEdit[] = [];
  for (const [name, { fields }] of before) if (!after.has(name)) edits.push(makeRemovalEdit(file, name, fields));
  for (const [name, { at, fields }] of after) {
    const known = before.get(name);
    if (known === undefined) edits.push(...makeAdditionEdits(file, at, fields));
    else edits.push(...makeLineChangeEdits(file, at, known.fields, fields));
  }
  return edits;
}

function parseLines(file: AccountFile, lines: readonly string[]): ParsedLines {
  const parsed: ParsedLines = new Map();
  for (const [index, line] of lines.entries()) {
    if (line.trim() === "") continue;
    const fields = line.split(":");
    const at = index + 1;
    if (fields.length !== FIELDS[file])
      refuse(file, at, `it has ${fields.length} fields, but a line must be ${FIELD_NAMES[file].join(":")}`);
    if (parsed.has(fields[0]!)) refuse(file, at, `${fields[0]} occurs twice`);
    parsed.set(fields[0]!, { at, fields });
  }
  return parsed;
}

function makeRemovalEdit(file: AccountFile, name: string, fields: readonly string[]): AccountEdit {
  if (file === "group") return { call: "sys.group.remove", args: { gid: Number(fields[2]) }, says: `group ${name} removed` };
  return refuse(file, null, `users cannot be removed: lock ${name} with sys.user.lock`);
}

function makeAdditionEdits(file: AccountFile, at: number, fields: readonly string[]): AccountEdit[] {
  const [name = "", , number = "", members = ""] = fields;
  if (file !== "group") return refuse(file, at, `create ${name} with sys.user.create, which also sets a password`);
  const gid = /^\d{1,9}$/.test(number) ? Number(number) : refuse(file, at, `${number || "nothing"} is not a gid`);
  const make = { call: "sys.group.create", args: { name, gid }, says: `group ${name} created` };
  return members === "" ? [make] : [make, makeMembersEdit(name, gid, members)];
}

function makeLineChangeEdits(file: AccountFile, at: number, before: readonly string[], after: readonly string[]): AccountEdit[] {
  const edits: AccountEdit[] = [];
  for (const [index, value] of after.entries()) {
    const oldValue = before[index]!;
    if (oldValue === value) continue;
    const edit = makeFieldEdit(file, index, after, oldValue);
    edits.push(
      edit ?? refuse(file, at, `the ${FIELD_NAMES[file][index]} of ${after[0]} cannot be changed here${suggestInstead(file, index)}`),
    );
  }
  return edits;
}

/** The call for one changed field, or null if there is none. */
function makeFieldEdit(file: AccountFile, index: number, fields: readonly string[], oldValue: string): AccountEdit | null {
  const [name = ""] = fields;
  const value = fields[index]!;
  switch (`${file} ${FIELD_NAMES[file][index]}`) {
    case "passwd gecos":
      return { call: "sys.user.update", args: { username: name, gecos: value }, says: `gecos of ${name} set` };
    case "shadow password":
      if (value === LOCK + oldValue) return { call: "sys.user.lock", args: { username: name, locked: true }, says: `${name} locked` };
      if (oldValue === LOCK + value) return { call: "sys.user.lock", args: { username: name, locked: false }, says: `${name} unlocked` };
      return null;
    case "group members":
      return makeMembersEdit(name, Number(fields[2]), value);
    default:
      return null;
  }
}

function makeMembersEdit(name: string, gid: number, members: string): AccountEdit {
  const names = members.split(",").filter((member) => member !== "");
  return { call: "sys.group.members", args: { gid, members: names }, says: `members of ${name} set` };
}

function suggestInstead(file: AccountFile, index: number): string {
  if (file === "shadow" && index === 1)
    return ": set a password with sys.user.password, or put ! in front of the hash to lock the user, and remove it to unlock";
  if (file === "group" && index === 2) return ": create another group with sys.group.create";
  return "";
}

function refuse(file: AccountFile, at: number | null, why: string): never {
  throw new FileError("EINVAL", `/etc/${file}`, `/etc/${file}${at === null ? "" : `, line ${at}`}: ${why}. Nothing was changed`);
}
