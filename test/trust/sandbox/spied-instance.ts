// An engine some of whose members are replaced: to measure it, or to stand for one that a script has taken over.

import type { Instance } from "../../../src/sandbox/instance.ts";

export function spiedInstance(instance: Instance, members: Partial<Instance>): Instance {
  return new Proxy(instance, {
    get(target, name) {
      const value: unknown = Reflect.get(name in members ? members : target, name, target);
      return typeof value === "function" && !(name in members) ? (value.bind(target) as unknown) : value;
    },
  });
}
