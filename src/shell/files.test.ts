// The shell's files over a kernel that answers from a table.

import { describe, expect, test } from "vitest";
import { FileError, type FileErrorCode } from "../hardware/filesystem.ts";
import type { FileOp } from "../ports/shells.ts";
import { ShellFiles } from "./files.ts";
import { Link, shellReply } from "./kernel-client.ts";
import { TERMINAL, TERMINAL_ERRORS } from "./terminal.ts";

type Refusals = Partial<Record<string, FileErrorCode>>;

function shell(refusals: Refusals = {}) {
  const asked: string[] = [];
  const screen = { stdout: "", stderr: "" };
  const answer = async (op: FileOp, path: string) => {
    asked.push(`${op} ${path}`);
    const code = refusals[path];
    // What is not there can be written.
    if (code !== undefined && (code !== "ENOENT" || op === "stat" || op === "read")) throw new FileError(code, path);
    if (op === "read") return new TextEncoder().encode("text");
    return op === "stat"
      ? { kind: path.endsWith("/") ? "directory" : "file", size: 4, mode: 0o600, modifiedAt: 0, uid: 1, gid: 1 }
      : undefined;
  };
  const link = new Link((ask) => shellReply(ask.kind === "file" ? answer(ask.op, String(ask.args[0])) : Promise.reject(new Error("no"))));
  const terminal = { write: (stream: "stdout" | "stderr", text: string) => void (screen[stream] += text), line: async () => "typed\n" };
  return { files: new ShellFiles(link, terminal, (name) => name === "ls"), asked, screen };
}

describe("what commands say of files they could not read", () => {
  test("is corrected where the file is there", async () => {
    const { files } = shell({ "/home/a/secret": "EACCES", "/home/a/dir": "EISDIR" });
    await expect(files.readFile("/home/a/secret")).rejects.toThrow("EACCES");
    await expect(files.readFile("/home/a/dir")).rejects.toThrow("EISDIR");
    expect(files.corrected("cat: secret: No such file or directory\n")).toBe("cat: secret: Permission denied\n");
    expect(files.corrected("cat: ./dir: No such file or directory\n")).toBe("cat: ./dir: Is a directory\n");
    expect(files.corrected("cat: /home/a/secret: No such file or directory\n")).toBe("cat: /home/a/secret: Permission denied\n");
  });

  test("is left alone where it is not", async () => {
    const { files } = shell({ "/home/a/secret": "EACCES", "/home/a/gone": "ENOENT" });
    await expect(files.readFile("/home/a/gone")).rejects.toThrow("ENOENT");
    expect(files.corrected("cat: gone: No such file or directory\n")).toBe("cat: gone: No such file or directory\n");
    await expect(files.readFile("/home/a/secret")).rejects.toThrow("EACCES");
    expect(files.corrected("cat: gone: No such file or directory\n")).toBe("cat: gone: No such file or directory\n");
  });

  test("is worded where a redirection could not be made", () => {
    const { files } = shell();
    expect(files.corrected("ENOENT: no such file or directory, open '/no/such'\n")).toBe("bash: /no/such: No such file or directory\n");
    expect(files.corrected("EACCES: permission denied, open '/etc/passwd'\n")).toBe("bash: /etc/passwd: Permission denied\n");
  });

  test("tells of devices without end", async () => {
    const { files } = shell();
    await expect(files.readFile("/dev/zero")).rejects.toThrow();
    expect(files.corrected("cat: /dev/zero: No such file or directory\n")).toContain("no end");
  });
});

describe("writing", () => {
  test("needs the directory", async () => {
    const { files, asked } = shell({ "/no": "ENOENT" });
    await expect(files.writeFile("/no/file", "x")).rejects.toThrow("ENOENT");
    await files.writeFile("/file", "x");
    expect(asked).toEqual(["stat /no", "write /file"]);
  });

  test("to the terminal and to nowhere asks nobody", async () => {
    const { files, asked, screen } = shell();
    await files.writeFile(TERMINAL, "out");
    await files.appendFile(TERMINAL_ERRORS, "err");
    await files.writeFile("/dev/null", "gone");
    expect(asked).toEqual([]);
    expect(screen).toEqual({ stdout: "out", stderr: "err" });
  });
});

test("a copy has the mode of what was copied, a file that is there keeps its own", async () => {
  const fresh = shell({ "/to": "ENOENT" });
  await fresh.files.cp("/from", "/to");
  expect(fresh.asked).toEqual(["stat /from", "stat /to", "read /from", "write /to", "setMode /to"]);
  const over = shell();
  await over.files.cp("/from", "/to");
  expect(over.asked).not.toContain("setMode /to");
});

test("a file is its path, and programs are there", async () => {
  const { files } = shell();
  expect((await files.stat("/a")).identity).toBe("/a");
  expect(await files.exists("/usr/bin/ls")).toBe(true);
  expect((await files.stat("/bin/ls")).mode).toBe(0o755);
});
