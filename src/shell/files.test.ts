// Tests the shell's file system with a kernel that answers from a table.

import { describe, expect, test } from "vitest";
import { FileError, type FileErrorCode } from "../hardware/filesystem.ts";
import type { FileOp } from "../ports/shells.ts";
import { ShellFiles } from "./files.ts";
import { KernelClient, toShellReply } from "./kernel-client.ts";
import { TERMINAL, TERMINAL_ERRORS } from "./terminal.ts";

type Refusals = Partial<Record<string, FileErrorCode>>;

function makeShell(refusals: Refusals = {}) {
  const requests: string[] = [];
  const screen = { stdout: "", stderr: "" };
  const answer = async (op: FileOp, path: string) => {
    requests.push(`${op} ${path}`);
    const code = refusals[path];
    // A missing file can be written.
    if (code !== undefined && (code !== "ENOENT" || op === "stat" || op === "read")) throw new FileError(code, path);
    if (op === "read") return new TextEncoder().encode("text");
    return op === "stat"
      ? { kind: path.endsWith("/") ? "directory" : "file", size: 4, mode: 0o600, modifiedAt: 0, uid: 1, gid: 1 }
      : undefined;
  };
  const link = new KernelClient((ask) =>
    toShellReply(ask.kind === "file" ? answer(ask.op, String(ask.args[0])) : Promise.reject(new Error("no"))),
  );
  const terminal = { write: (stream: "stdout" | "stderr", text: string) => void (screen[stream] += text), readLine: async () => "typed\n" };
  return { files: new ShellFiles(link, terminal, (name) => name === "ls"), requests, screen };
}

describe("the error message of a command that could not read a file", () => {
  test("is corrected if the file exists", async () => {
    const { files } = makeShell({ "/home/a/secret": "EACCES", "/home/a/dir": "EISDIR" });
    await expect(files.readFile("/home/a/secret")).rejects.toThrow("EACCES");
    await expect(files.readFile("/home/a/dir")).rejects.toThrow("EISDIR");
    expect(files.correctErrors("cat: secret: No such file or directory\n")).toBe("cat: secret: Permission denied\n");
    expect(files.correctErrors("cat: ./dir: No such file or directory\n")).toBe("cat: ./dir: Is a directory\n");
    expect(files.correctErrors("cat: /home/a/secret: No such file or directory\n")).toBe("cat: /home/a/secret: Permission denied\n");
  });

  test("stays as it is if the file does not exist", async () => {
    const { files } = makeShell({ "/home/a/secret": "EACCES", "/home/a/gone": "ENOENT" });
    await expect(files.readFile("/home/a/gone")).rejects.toThrow("ENOENT");
    expect(files.correctErrors("cat: gone: No such file or directory\n")).toBe("cat: gone: No such file or directory\n");
    await expect(files.readFile("/home/a/secret")).rejects.toThrow("EACCES");
    expect(files.correctErrors("cat: gone: No such file or directory\n")).toBe("cat: gone: No such file or directory\n");
  });

  test("is worded as in bash if a redirection failed", () => {
    const { files } = makeShell();
    expect(files.correctErrors("ENOENT: no such file or directory, open '/no/such'\n")).toBe("bash: /no/such: No such file or directory\n");
    expect(files.correctErrors("EACCES: permission denied, open '/etc/passwd'\n")).toBe("bash: /etc/passwd: Permission denied\n");
  });

  test("explains that a device is endless", async () => {
    const { files } = makeShell();
    await expect(files.readFile("/dev/zero")).rejects.toThrow();
    expect(files.correctErrors("cat: /dev/zero: No such file or directory\n")).toContain("It is endless");
  });
});

describe("writing", () => {
  test("fails if the directory does not exist", async () => {
    const { files, requests } = makeShell({ "/no": "ENOENT" });
    await expect(files.writeFile("/no/file", "x")).rejects.toThrow("ENOENT");
    await files.writeFile("/file", "x");
    expect(requests).toEqual(["stat /no", "write /file"]);
  });

  test("to the terminal or to /dev/null does not call the kernel", async () => {
    const { files, requests, screen } = makeShell();
    await files.writeFile(TERMINAL, "out");
    await files.appendFile(TERMINAL_ERRORS, "err");
    await files.writeFile("/dev/null", "gone");
    expect(requests).toEqual([]);
    expect(screen).toEqual({ stdout: "out", stderr: "err" });
  });
});

test("a new copy gets the mode of its source, and an existing file keeps its own", async () => {
  const copy = makeShell({ "/to": "ENOENT" });
  await copy.files.cp("/from", "/to");
  expect(copy.requests).toEqual(["stat /from", "stat /to", "read /from", "write /to", "setMode /to"]);
  const overwrite = makeShell();
  await overwrite.files.cp("/from", "/to");
  expect(overwrite.requests).not.toContain("setMode /to");
});

test("the identity of a file is its path, and programs exist in /bin and /usr/bin", async () => {
  const { files } = makeShell();
  expect((await files.stat("/a")).identity).toBe("/a");
  expect(await files.exists("/usr/bin/ls")).toBe(true);
  expect((await files.stat("/bin/ls")).mode).toBe(0o755);
});
