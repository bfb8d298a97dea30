import { expect, test } from "vitest";
import { shellOf } from "./program.ts";

const there = (path: string) => path === "/bin/zsh" || path === "zsh";

test("on Unix a command runs in the user's own shell, as at login", () => {
  for (const platform of ["linux", "darwin"] as const) {
    expect(shellOf(platform, { SHELL: "/bin/zsh" }, "ls 'a b'", there)).toEqual({ file: "/bin/zsh", args: ["-lc", "ls 'a b'"] });
    expect(shellOf(platform, { SHELL: "/bin/zsh" }, " ", there)).toEqual({ file: "/bin/zsh", args: ["-l"] });
  }
});

test("where that is none, in the one that is always there", () => {
  for (const env of [{}, { SHELL: "zsh" }, { SHELL: "/bin/none" }, { SHELL: "" }])
    expect(shellOf("linux", env as Record<string, string>, "ls", there)).toEqual({ file: "/bin/sh", args: ["-lc", "ls"] });
});

test("on Windows it runs in PowerShell, as one argument whatever is in it", () => {
  const input = "Get-ChildItem 'C:\\a b' | Select-Object -First 3; echo \"x\"";
  expect(shellOf("win32", { SHELL: "/bin/zsh" }, input, there)).toEqual({
    file: "powershell.exe",
    args: ["-NoLogo", "-NoProfile", "-Command", input],
  });
  expect(shellOf("win32", {}, "", there)).toEqual({ file: "powershell.exe", args: ["-NoLogo"] });
});
