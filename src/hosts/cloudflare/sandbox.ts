// The Sandbox port in the object of a process: nothing but the process itself waits while a script computes. The engine counts its steps,
// because no clock advances meanwhile and nobody could end it from outside.

import { Slots } from "../../lib/slots.ts";
import { INTERRUPTED, type Sandbox } from "../../ports/sandbox.ts";
import { makeFailedEnd, runScript } from "../../sandbox/engine.ts";
import { engineName } from "../../sandbox/engine-name.ts";
import { Instance } from "../../sandbox/instance.ts";

/** Running scripts of one process. Each may need 32 MB of the object's 128. */
const SCRIPTS_MAX = 2;

export function makeCloudflareSandbox(wasm: WebAssembly.Module): Sandbox {
  const slots = new Slots(SCRIPTS_MAX);
  const options = { wasm, takeInstance: () => Instance.create(wasm) };
  return {
    engine: engineName(true),
    run: (start, link, signal) =>
      slots
        .run(() => runScript(options, start, link, signal), signal)
        .catch((error: unknown) => {
          if (signal.aborted) return makeFailedEnd(INTERRUPTED);
          throw error;
        }),
  };
}
