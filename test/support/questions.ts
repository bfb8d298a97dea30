// Questions of agents, for tests: the demo model is told to do something that a person is asked about.

import { expect } from "vitest";
import type { Client, Calls } from "../../src/client/client.ts";

export type Question = Calls["proc.approval.list"]["result"]["pending"][number];

/** Each in a process of its own, so that none waits for another. Resolves when it is asked. */
export async function askFor(client: Client, request: string): Promise<Question> {
  const { pid } = await client.call("proc.spawn", { profile: "task", prompt: request });
  let question: Question | undefined;
  await expect
    .poll(async () => (question = (await client.call("proc.approval.list", { pid })).pending[0]), { timeout: 60_000, interval: 50 })
    .toBeDefined();
  return question!;
}
