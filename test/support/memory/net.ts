// The Net port with no wire behind it: judged, redirected and bounded as everywhere, answered by a script.

import { type Answer, Egress } from "../../../src/kernel/egress/egress.ts";
import type { Hop } from "../../../src/kernel/egress/hop.ts";
import { type Net, NetError } from "../../../src/ports/net.ts";

/** Where no script is given, nothing is there to be reached. */
export function memoryNet(script: (hop: Hop) => Promise<Answer> = unreachable): Net {
  return new Egress({ isAllowed: () => false, timer: () => () => {}, send: script });
}

async function unreachable({ target }: Hop): Promise<Answer> {
  throw new NetError("connect", `Cannot reach ${target.host}`);
}
