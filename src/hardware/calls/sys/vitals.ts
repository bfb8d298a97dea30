// Reports how busy the machine of a target is.

import { z } from "zod";
import { hardwareSyscall } from "../define.ts";

const Room = z.object({ totalBytes: z.number(), freeBytes: z.number() });

export default hardwareSyscall({
  name: "sys.vitals",
  doc: "Read the operating system, processor use, memory, disk and uptime of a target's machine as they are now. cpuBusy is the part of all processors that was busy during the last seconds, from 0 to 1; freeBytes of memory is what programs can still use; disk is the one that holds the working directory of a device, or the gateway's data. What a machine cannot measure is null.",
  runs: "hardware",
  does: "read",
  from: ["user"],
  grant: ["users"],
  args: z.object({}),
  result: z.object({
    system: z.string().max(256),
    arch: z.string().max(64).nullable(),
    cpuCount: z.int().nullable(),
    cpuBusy: z.number().min(0).max(1).nullable(),
    memory: Room.nullable(),
    disk: Room.nullable(),
    uptimeMs: z.number().nullable(),
  }),
  fails: { 400: "the device runs an older GSV", 403: "the caller may not use the device", 503: "the device is offline" },
  example: {
    args: {},
    result: {
      system: "Debian GNU/Linux 13 (trixie)",
      arch: "x64",
      cpuCount: 8,
      cpuBusy: 0.12,
      memory: { totalBytes: 16_777_216_000, freeBytes: 9_126_805_504 },
      disk: { totalBytes: 499_963_174_912, freeBytes: 201_863_462_912 },
      uptimeMs: 93_784_000,
    },
  },
  run: ({ readVitals }) => readVitals(),
});
