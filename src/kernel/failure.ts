// Turns a thrown error into the error that the caller receives, for every entrance. A refusal is passed on unchanged. Anything else
// except failed storage is our own bug: the caller receives an incident id, and the log the details.

import { SysError } from "../lib/sys-error.ts";
import { StorageError } from "../ports/sql.ts";

/** `report` logs the error and returns the incident id. */
export function toSysError(error: unknown, report: (error: unknown) => string): SysError {
  if (error instanceof SysError) return error;
  if (error instanceof StorageError) return new SysError(error.full ? 507 : 500, error.message);
  return new SysError(500, `Internal error (incident ${report(error)})`);
}
