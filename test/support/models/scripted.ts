// The model of a gateway under test: a provider on loopback that is configured for a user. A test scripts its answers by prompt
// and inspects its requests, in any wire format.

import type { Client } from "../../../src/client/client.ts";
import { type Asked, ScriptedProvider, type Step, type WireName } from "./provider.ts";
import type { Said, Script } from "./script.ts";

let models = 0;
let calls = 0;

export function says(text: string, usage?: Script["usage"]): Script {
  return { say: [{ type: "text", text }], ...(usage === undefined ? {} : { usage }) };
}

/** One call of a tool, or several: `wants(["Read", {...}], ["Shell", {...}])`. */
export function wants(...tools: readonly [name: string, args: object][]): Script {
  return { say: tools.map(([name, args]): Said => ({ type: "call", id: `call_${++calls}`, name, args: JSON.stringify(args) })) };
}

export class ScriptedModel {
  readonly provider: ScriptedProvider;
  /** A new name for each, so that no gateway remembers the failures of the last. */
  readonly name = `scripted-${++models}`;

  private constructor(provider: ScriptedProvider) {
    this.provider = provider;
  }

  static async start(): Promise<ScriptedModel> {
    return new ScriptedModel(await ScriptedProvider.start());
  }

  /** From the next run on it answers one user, or everybody who has chosen no other model. Root allows its address. */
  async serve(root: Client, whom: number | "everybody" = "everybody", wire: WireName = "chat"): Promise<void> {
    const folder = whom === "everybody" ? "config/ai" : `users/${whom}/ai`;
    const own = Object.entries(this.settings(wire)).map(([name, value]) => ({ key: `${folder}/${name}`, value }));
    const all = [{ key: "config/net/allowed_hosts", value: this.provider.host }, ...own];
    await Promise.all(all.map((one) => root.call("sys.config.set", one)));
  }

  /** The settings that select it. */
  settings(wire: WireName): Record<"provider" | "base_url" | "model" | "api_key", string> {
    const { provider, baseUrl, apiKey } = this.provider.choice(wire);
    return { provider, base_url: baseUrl ?? "", model: this.name, api_key: apiKey };
  }

  /** Scripts one run, as `ScriptedProvider.on` does. */
  on(prompt: string | RegExp, ...steps: Step[]): this {
    this.provider.on(prompt, ...steps);
    return this;
  }

  /** Like `on`, but the first answer waits until the returned function is called. */
  holds(prompt: string | RegExp, first: Script, ...steps: Step[]): () => void {
    let release = () => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    this.on(
      prompt,
      async () => {
        await gate;
        return first;
      },
      ...steps,
    );
    return release;
  }

  /** For requests that no rule answers. */
  otherwise(step: ScriptedProvider["otherwise"]): this {
    this.provider.otherwise = step;
    return this;
  }

  /** The requests for an answer, oldest first. */
  get asked(): Asked[] {
    return this.provider.asked.filter(({ method }) => method === "POST");
  }

  close(): Promise<void> {
    return this.provider.close();
  }
}

/** The messages of a request, without instructions and tools, in its wire format. */
export function told({ body }: Asked): unknown[] {
  return (body.messages ?? body.input ?? []) as unknown[];
}

/** The messages as text, to search in. */
export function toldText(asked: Asked): string {
  return JSON.stringify(told(asked));
}

export function toolNames({ body }: Asked): string[] {
  const tools = (body.tools ?? []) as { name?: string; function?: { name: string } }[];
  return tools.map((tool) => tool.function?.name ?? tool.name ?? "");
}
