// What a command on a device sees of the daemon's environment: what a login shell needs to begin, and nothing that could
// carry a secret of the daemon's or make another program do something else. The shell's own start-up files do the rest.

import { userInfo } from "node:os";

const PASSED = new Set([
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
  // Windows cannot start much without these.
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

export function environment(from: NodeJS.ProcessEnv, deviceId: string): Record<string, string> {
  const passed = Object.entries(from).filter(([name, value]) => value !== undefined && (PASSED.has(name) || name.startsWith("LC_")));
  return { TERM: "dumb", ...loginShell(), ...(Object.fromEntries(passed) as Record<string, string>), GSV_DEVICE: deviceId };
}

/** A service may be started without SHELL; the machine's own list of users knows it. */
function loginShell(): { SHELL?: string } {
  const { shell } = userInfo();
  return shell ? { SHELL: shell } : {};
}
