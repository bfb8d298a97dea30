// Checks answers of devices that screens show field by field. A device is somebody's machine, and may answer anything.

import { hardwareCalls } from "../../hardware/calls/table.ts";
import { SysError } from "../../lib/sys-error.ts";

type Data = Record<string, unknown>;

const CHECKED = new Map(
  hardwareCalls.filter(({ name }) => name === "sys.vitals" || name === "shell.list").map((call) => [call.name, call]),
);

/** The answer without fields that the call does not have. Throws if it is not an answer to this call. */
export function checkAnswer(call: string, target: string, data: Data): Data {
  const declared = CHECKED.get(call);
  if (declared === undefined) return data;
  const parsed = declared.result.safeParse(data);
  if (!parsed.success) throw new SysError(503, `${target} gave an answer that is not one of ${call}: update GSV on it`);
  return parsed.data;
}
