// What a caller is told of something that was thrown, whichever way the call came. A refusal is told as it is. Anything else but
// failed storage is our own bug: the caller gets the id of an incident, and the log the rest.

import { SysError } from "../lib/sys-error.ts";
import { StorageError } from "../ports/sql.ts";

/** `report` writes the error to the log, and returns the incident's id. */
export function toSysError(error: unknown, report: (error: unknown) => string): SysError {
  if (error instanceof SysError) return error;
  if (error instanceof StorageError) return new SysError(error.full ? 507 : 500, error.message);
  return new SysError(500, `Internal error (incident ${report(error)})`);
}
