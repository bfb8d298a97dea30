// gsv ai check: tries a model, the configured one or one given by flags, and says what to do if it does not answer.

import { askSecret, readSecret } from "../terminal/ask.ts";
import { type Globals, withClient } from "../session/session.ts";
import { printText, printJson, printMark } from "../terminal/terminal.ts";

type Flags = Globals & { provider?: string; model?: string; apiKey?: string | true; baseUrl?: string };

/** A large local model is loaded before its first token. */
const CALL_MS = 90_000;
const MODELS_SHOWN = 20;

export async function aiCheck(flags: Flags): Promise<number> {
  const { provider, model, baseUrl } = flags;
  const apiKey = flags.apiKey === undefined ? undefined : await readSecret("--api-key", flags.apiKey, () => askSecret("API key to test"));
  const args = { provider, model, baseUrl, apiKey };
  const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
  const { check } = await withClient(flags, (client) => client.call("ai.check", given, { timeoutMs: CALL_MS }));
  if (flags.json) printJson({ check });
  else {
    const name = check.model === "" ? check.title : `${check.title}, model ${check.model}`;
    if (check.ok) printMark("ok", `${name} answered in ${check.ms} ms: ${check.said || "(empty answer)"}`);
    else printMark("fail", `${name}: ${check.problem?.message ?? "no answer"}`);
    if (!check.ok && check.models !== null && check.problem?.field === "model")
      for (const line of modelLines(check.models)) printText(line);
  }
  return check.ok ? 0 : 1;
}

function modelLines(models: readonly string[]): string[] {
  const rest = models.length - MODELS_SHOWN;
  return [...models.slice(0, MODELS_SHOWN).map((model) => `  ${model}`), ...(rest > 0 ? [`  and ${rest} more`] : [])];
}
