// The lines to paste, as shells parse them.

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { installLine, installLineWindows, addressWarning } from "./install-line.ts";

const DEVICE = { deviceId: "it's $HOME; `ls`", username: "alice", token: "gsv_node_abc" };

test("a name is one word to the shell, whatever it contains", () => {
  const line = installLine("https://gsv.example.com", DEVICE);
  const words = line.slice(line.indexOf("--device"));
  expect(execFileSync("sh", ["-c", `printf '%s|' ${words}`], { encoding: "utf8" })).toBe(`--device|${DEVICE.deviceId}|--user|alice|`);
  expect(line).toMatch(/^ curl -fsSL https:\/\/gsv\.example\.com\/downloads\/cli\/install\.sh \| GSV_DEVICE_TOKEN=gsv_node_abc sh -s -- /);
});

test("every word is single-quoted for PowerShell, and quotes inside are doubled", () => {
  const line = installLineWindows("https://gsv.example.com", { ...DEVICE, deviceId: "it's ’here’ $(x)" });
  expect(line).toContain("-Device 'it''s ’’here’’ $(x)' -User 'alice'");
  expect(line).toMatch(/^ \$env:GSV_DEVICE_TOKEN='gsv_node_abc'; /);
});

test("an address that no other machine can reach, or that is not encrypted, gets a remark", () => {
  expect(addressWarning("http://localhost:8787", "add --url")).toContain("Only this machine can reach");
  expect(addressWarning("http://10.0.0.5:8787", "")).toContain("not encrypted");
  expect(addressWarning("https://gsv.example.com", "")).toBeNull();
});
