// An ordinary user, for tests of the file tree. Her calls do nothing.

import type { Who } from "../../src/vfs/mount.ts";

export const ALICE: Who = {
  uid: 1000,
  gid: 1000,
  gids: [1000],
  username: "alice",
  home: "/home/alice",
  cwd: "/home/alice",
  runSyscall: async () => ({}),
  checkStillAllowed: () => {},
};
