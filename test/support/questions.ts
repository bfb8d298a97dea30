// Questions of agents, for tests: prompts the demo model to do something that needs approval.

import { expect } from "vitest";
import type { Client, Calls } from "../../src/client/client.ts";

export type Question = Calls["proc.approval.list"]["result"]["pending"][number];

/** Each in its own process, so that none waits for another. Resolves when the question is pending. */
export async function askFor(client: Client, request: string): Promise<Question> {
  const { pid } = await client.call("proc.spawn", { profile: "task", prompt: request });
  let question: Question | undefined;
  await expect
    .poll(async () => (question = (await client.call("proc.approval.list", { pid })).pending[0]), { timeout: 60_000, interval: 50 })
    .toBeDefined();
  return question!;
}
