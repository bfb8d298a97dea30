// Machines: the list, one machine, and adding one, each at its own address.

import { AddMachine } from "../machines/add-machine.tsx";
import { Gateway } from "../machines/gateway.tsx";
import { MachineList } from "../machines/machine-list.tsx";
import { Machine } from "../machines/machine.tsx";
import type { ScreenProps } from "./screens.ts";
import "../machines/machines.css";

export default function Machines({ rest: [part, name], pane }: ScreenProps) {
  if (part === "add") return <AddMachine deviceId={name ?? null} pane={pane} key={name ?? ""} />;
  if (part === "device" && name !== undefined) return <Machine deviceId={name} pane={pane} key={name} />;
  if (part === "gateway") return <Gateway pane={pane} />;
  return <MachineList pane={pane} />;
}
