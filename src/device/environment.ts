// The part of the daemon's environment that a command on a device sees: what a login shell needs to start, and nothing that could
// contain a secret of the daemon or change the behaviour of other programs. The shell's own start-up files add the rest.

import { userInfo } from "node:os";

const PASSED_NAMES = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TERM",
  "COLORTERM",
  "TMPDIR",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "SSH_AUTH_SOCK",
  // Windows can start few programs without these.
  "SystemRoot",
  "SystemDrive",
  "windir",
  "ComSpec",
  "PATHEXT",
  "TEMP",
  "TMP",
  "USERPROFILE",
  "USERNAME",
  "APPDATA",
  "LOCALAPPDATA",
  "ProgramFiles",
  "ProgramData",
]);

export function makeCommandEnvironment(from: NodeJS.ProcessEnv, deviceId: string): Record<string, string> {
  const entries = Object.entries(from).filter(([name, value]) => value !== undefined && (PASSED_NAMES.has(name) || name.startsWith("LC_")));
  return { TERM: "dumb", ...loginShell(), ...(Object.fromEntries(entries) as Record<string, string>), GSV_DEVICE: deviceId };
}

/** A service may be started without SHELL; the user database knows it. */
function loginShell(): { SHELL?: string } {
  const { shell } = userInfo();
  return shell ? { SHELL: shell } : {};
}
