// Calls the gateway's real models over the Node host's real Net port, and collects their events.

import { randomBytes, randomUUID } from "node:crypto";
import { makeNodeNet } from "../../../src/hosts/node/net.ts";
import { type ModelsOptions, ProviderModels } from "../../../src/models/models.ts";
import type { ModelChoice, ModelEvent, ModelRequest, Models } from "../../../src/ports/models.ts";

/** Retries wait one millisecond, so that tests do not wait. */
export function testModels(options: Partial<ModelsOptions> = {}): ProviderModels {
  return new ProviderModels({
    net: makeNodeNet({ isAllowed: (host) => host === "127.0.0.1" }),
    crypto: { randomBytes: (length) => randomBytes(length), uuid: () => randomUUID() },
    ...options,
    limits: { backoffMs: 1, ...options.limits },
  });
}

export function requestOf(choice: ModelChoice, text: string, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    choice,
    system: "You are a test.",
    messages: [{ role: "user", content: [{ type: "text", text }] }],
    tools: [
      {
        name: "Read",
        description: "Read a file",
        parameters: {
          type: "object",
          properties: { target: { type: "string" }, path: { type: "string" } },
          required: ["target", "path"],
        },
      },
    ],
    affinity: "proc-1",
    ...more,
  };
}

export type Ending = Extract<ModelEvent, { type: "done" | "error" }>;

/** Every event, and the last one. */
export async function listen(
  models: Models,
  request: ModelRequest,
  signal = new AbortController().signal,
): Promise<{ events: ModelEvent[]; end: Ending }> {
  const events: ModelEvent[] = [];
  for await (const event of models.stream(request, signal)) events.push(event);
  const end = events.at(-1);
  if (end?.type !== "done" && end?.type !== "error") throw new Error(`The last event is ${end?.type ?? "missing"}`);
  return { events, end };
}
