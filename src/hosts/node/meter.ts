// The Meter port over prom-client: the content of /metrics.

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Meter } from "../../ports/log.ts";

export type NodeMeter = Meter & { metricsText(): Promise<string> };

export function makeNodeMeter(sockets: () => number, journal: { readonly syncs: number }): NodeMeter {
  const registers = [new Registry()];
  collectDefaultMetrics({ register: registers[0]! });
  // Counted here and passed on when somebody reads them: prom-client takes a microsecond to find the counter of a label.
  const counts = new Map<string, Map<number, number>>();
  new Counter({
    name: "gsv_calls_total",
    help: "Answered requests",
    labelNames: ["call", "code"] as const,
    registers,
    collect() {
      this.reset();
      for (const [call, byCode] of counts) for (const [code, count] of byCode) this.inc({ call, code }, count);
    },
  });
  const seconds = new Histogram({
    name: "gsv_call_seconds",
    help: "Time to answer",
    buckets: [0.0005, 0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers,
  });
  const drops = new Counter({
    name: "gsv_dropped_total",
    help: "Frames and sockets refused or dropped",
    labelNames: ["reason"] as const,
    registers,
  });
  new Gauge({
    name: "gsv_sockets",
    help: "Open sockets",
    registers,
    collect() {
      this.set(sockets());
    },
  });
  new Counter({
    name: "gsv_journal_syncs_total",
    help: "Records appended to the journal, each with a sync of the disk",
    registers,
    collect() {
      this.reset();
      this.inc(journal.syncs);
    },
  });
  return {
    countCall(name, code, ms) {
      const byCode = counts.get(name) ?? new Map<number, number>();
      if (byCode.size === 0) counts.set(name, byCode);
      byCode.set(code, (byCode.get(code) ?? 0) + 1);
      seconds.observe(ms / 1000);
    },
    countDropped: (reason) => drops.inc({ reason }),
    metricsText: () => registers[0]!.metrics(),
  };
}
