import { expect, test } from "vitest";
import { makeShellProgram } from "./program.ts";

const isProgram = (path: string) => path === "/bin/zsh" || path === "zsh";

test("on Unix a command runs in the user's own login shell", () => {
  for (const platform of ["linux", "darwin"] as const) {
    expect(makeShellProgram(platform, { SHELL: "/bin/zsh" }, "ls 'a b'", isProgram)).toEqual({
      file: "/bin/zsh",
      args: ["-lc", "ls 'a b'"],
    });
    expect(makeShellProgram(platform, { SHELL: "/bin/zsh" }, " ", isProgram)).toEqual({ file: "/bin/zsh", args: ["-l"] });
  }
});

test("without a usable shell it runs in /bin/sh", () => {
  for (const env of [{}, { SHELL: "zsh" }, { SHELL: "/bin/none" }, { SHELL: "" }])
    expect(makeShellProgram("linux", env as Record<string, string>, "ls", isProgram)).toEqual({ file: "/bin/sh", args: ["-lc", "ls"] });
});

test("on Windows it runs in PowerShell, always as one argument", () => {
  const input = "Get-ChildItem 'C:\\a b' | Select-Object -First 3; echo \"x\"";
  expect(makeShellProgram("win32", { SHELL: "/bin/zsh" }, input, isProgram)).toEqual({
    file: "powershell.exe",
    args: ["-NoLogo", "-NoProfile", "-Command", input],
  });
  expect(makeShellProgram("win32", {}, "", isProgram)).toEqual({ file: "powershell.exe", args: ["-NoLogo"] });
});
