// Everything a host hands to the kernel.

import type { ProcessActors, RepositoryActors } from "./actors.ts";
import type { Blobs } from "./blobs.ts";
import type { Clock } from "./clock.ts";
import type { Crypto } from "./crypto.ts";
import type { LimitedLog } from "./limited-log.ts";
import type { Meter } from "./log.ts";
import type { Net } from "./net.ts";
import type { Shells } from "./shells.ts";
import type { Sockets } from "./sockets.ts";
import type { Sql } from "./sql.ts";
import type { Vitals } from "./vitals.ts";

export type Ports = {
  sql: Sql;
  processes: ProcessActors;
  repositories: RepositoryActors;
  shells: Shells;
  blobs: Blobs;
  clock: Clock;
  sockets: Sockets;
  crypto: Crypto;
  net: Net;
  log: LimitedLog;
  meter: Meter;
  vitals: Vitals;
};
