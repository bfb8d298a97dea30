// Describes how the gateway can be reached.

import { z } from "zod";
import { isRoot } from "../../../protocol/caller.ts";
import { syscall } from "../define.ts";

export default syscall({
  name: "sys.network",
  doc: "Describe how the gateway is reached: whether it listens on this computer alone (loopback), on the network, or wherever its platform routes to it; its port; the addresses by name that its operator listed; and the addresses of its network interfaces. Interfaces on which it does not listen are shown to root only.",
  runs: "kernel",
  does: "effect",
  from: ["user"],
  grant: ["users"],
  again: "safe",
  args: z.object({}),
  result: z.object({
    listensOn: z.enum(["loopback", "network", "platform"]),
    port: z.int().nullable(),
    isEncrypted: z.boolean(),
    origins: z.array(z.string()),
    interfaces: z.array(z.object({ address: z.string(), kind: z.enum(["local", "tailscale", "public"]) })),
  }),
  fails: {},
  example: {
    args: {},
    result: {
      listensOn: "network",
      port: 8787,
      isEncrypted: false,
      origins: ["https://gsv.example.com"],
      interfaces: [{ address: "192.168.1.20", kind: "local" }],
    },
  },
  async run({ vitals }, caller) {
    const { interfaces, ...network } = vitals.readNetwork();
    const shown = network.listensOn === "network" || isRoot(caller);
    return { ...network, origins: [...network.origins], interfaces: shown ? [...interfaces] : [] };
  },
});
