// Scripts of a model with payloads in everything that the desktop shows of them: source, arguments of calls, log, result and error.

import type { Page } from "playwright-core";
import type { Client } from "../../../src/client/client.ts";
import { userPolicyKey } from "../../../src/kernel/agents/policies.ts";
import { messageField, messageList } from "../../support/chat-page.ts";
import { type ScriptedModel, says, wants } from "../../support/models/scripted.ts";
import type { Payload } from "./payloads.ts";

/** Payloads per script: what it reports is shown whole. */
const BATCH = 15;
const LOG_CHARS = 500;
const PATH_CHARS = 100;

export type ScriptStage = { url: string; page: Page; alice: Client; model: ScriptedModel };

/** Runs scripts while the page shows their conversation, and reads it again from the history. `check` gets the marks that must be there. */
export async function showScripts(
  { url, page, alice, model }: ScriptStage,
  payloads: readonly Payload[],
  check: (path: string, marks: readonly string[]) => Promise<void>,
): Promise<void> {
  const sound = payloads.filter(({ text }) => !/[\ud800-\udfff]/.test(text));
  for (let at = 0; at < sound.length; at += BATCH) {
    const batch = sound.slice(at, at + BATCH);
    const [{ text: first, mark: firstMark }, { text: last, mark: lastMark }] = [batch[0]!, batch.at(-1)!];
    const { pid } = await alice.call("proc.spawn", { profile: "task", label: `scripts ${at}` });
    const path = `/chat/${encodeURIComponent(pid)}/default`;
    await page.goto(`${url}${path}`);
    await messageField(page).waitFor();
    const prompt = `scripts from ${firstMark} on`;
    model.on(
      prompt,
      wants(["CodeMode", { code: sourceOf(batch, first, "") }], ["CodeMode", { code: sourceOf(batch, "", last) }]),
      says("ended"),
    );
    await alice.call("proc.send", { pid, message: prompt });
    await messageList(page).getByText("ended", { exact: true }).waitFor();
    const each = batch.flatMap(({ mark }) => [`call-${mark}`, `log-${mark}`, `source-${mark}`]);
    const marks = [...each, `result-${firstMark}`, `error-${lastMark}`];
    await check(path, marks);
    await page.reload();
    await messageList(page).getByText("ended", { exact: true }).waitFor();
    await check(path, marks);
  }
}

/** Reads and logs something for every payload, and then returns or throws one. */
function sourceOf(batch: readonly Payload[], result: string, error: string): string {
  const lines = batch.flatMap(({ text }) => [
    `// source-${text.slice(0, LOG_CHARS).replaceAll(/[\r\n\u2028\u2029]/g, " ")}`,
    `console.warn(${JSON.stringify(`log-${text.slice(0, LOG_CHARS)}`)});`,
    `try { await fs.read({ path: ${JSON.stringify(`~/nowhere/call-${text.slice(0, PATH_CHARS)}`)} }); } catch { }`,
  ]);
  const end =
    error === ""
      ? `return { ${JSON.stringify(result)}: ${JSON.stringify(`result-${result}`)} };`
      : `throw new Error(${JSON.stringify(`error-${error}`)});`;
  return [...lines, end].join("\n");
}

/** While `ask` runs, every call of the user's tasks asks a person, also scripts. */
export async function askAboutScripts<T>(alice: Client, ask: () => Promise<T>): Promise<T> {
  const key = userPolicyKey(alice.session.identity.process.uid, "task");
  await alice.call("sys.config.set", { key, value: JSON.stringify({ default: "ask", rules: [] }) });
  try {
    return await ask();
  } finally {
    await alice.call("sys.config.set", { key, value: "" });
  }
}
