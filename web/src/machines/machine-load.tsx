// How busy a machine is now: processor, memory and disk as bars. Asks the machine itself, and only while it is shown.

import type { Result } from "../state/call.ts";
import type { Latest } from "../state/latest.ts";
import { useLatest } from "../state/use-latest.ts";
import { usePolling } from "../state/use-polling.ts";
import { Gauge } from "../ui/gauge.tsx";
import "./machine-load.css";

export type MachineVitals = Result<"sys.vitals">;
type Room = NonNullable<MachineVitals["memory"]>;

const POLL_MS = 10_000;
const GIB = 1024 ** 3;

/** For a machine that is online, or the gateway. */
export function useVitals(target: string): Latest<MachineVitals> {
  const latest = useLatest("sys.vitals", { target });
  usePolling(latest, POLL_MS);
  return latest;
}

/** `isShort`: where there is no room for sizes. */
export function LoadGauges({ vitals: { cpuBusy, memory, disk }, isShort = false }: { vitals: MachineVitals; isShort?: boolean }) {
  const describe = (room: Room) => (isShort ? formatPercent(usedPart(room)) : formatRoom(room));
  return (
    <div class="machine-gauges">
      {cpuBusy !== null && <Gauge label="Processor" used={cpuBusy} words={formatPercent(cpuBusy)} mayBeFull />}
      {memory !== null && <Gauge label="Memory" used={usedPart(memory)} words={describe(memory)} />}
      {disk !== null && <Gauge label="Disk" used={usedPart(disk)} words={describe(disk)} />}
    </div>
  );
}

/** The bars of a machine in a list. One that cannot say shows none. */
export function MachineLoad({ target, isShort = false }: { target: string; isShort?: boolean }) {
  const vitals = useVitals(target).value.value;
  return vitals === null ? null : <LoadGauges vitals={vitals} isShort={isShort} />;
}

function usedPart({ totalBytes, freeBytes }: Room): number {
  return totalBytes === 0 ? 0 : Math.min(1, Math.max(0, 1 - freeBytes / totalBytes));
}

function formatPercent(part: number): string {
  return `${Math.round(part * 100)} %`;
}

/** "6.1 of 16 GB" */
function formatRoom({ totalBytes, freeBytes }: Room): string {
  return `${formatGib(totalBytes - freeBytes)} of ${formatGib(totalBytes)} GB`;
}

function formatGib(bytes: number): string {
  const size = bytes / GIB;
  return size < 10 ? size.toFixed(1) : String(Math.round(size));
}
