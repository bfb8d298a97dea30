// The Net port without a network: requests are checked, redirected and bounded as everywhere, and a script answers them.

import { type EgressResponse, Egress } from "../../../src/kernel/egress/egress.ts";
import type { Hop } from "../../../src/kernel/egress/hop.ts";
import { type Net, NetError } from "../../../src/ports/net.ts";

/** Without a script every host is unreachable. */
export function memoryNet(script: (hop: Hop) => Promise<EgressResponse> = unreachable): Net {
  return new Egress({ isAllowed: () => false, timer: () => () => {}, send: script });
}

async function unreachable({ target }: Hop): Promise<EgressResponse> {
  throw new NetError("connect", `Cannot reach ${target.host}`);
}
