// oauth: accounts with other services. Tokens are never part of what the calls answer.

import type { OAuthAccountSummary, OAuthFlowSummary } from "../../protocol/oauth-records.ts";
import { defineCommandFile, type CommandContext, CommandError, type Output } from "../command.ts";
import { readManual } from "../manual.ts";
import { type Options, parseOptions, parsePairs } from "../options.ts";
import { formatTable, toJson, toLine } from "../table.ts";

/** Options of start, and the arguments of sys.oauth.start. */
const REQUIRED = {
  kind: "kind",
  provider: "provider",
  "authorization-endpoint": "authorizationEndpoint",
  "token-endpoint": "tokenEndpoint",
  "client-id": "clientId",
  "redirect-uri": "redirectUri",
};
const OPTIONAL = { scope: "scope", resource: "resource", label: "label", "account-key": "accountKey" };

const DOC = `List and forget accounts with other services, and sign in to new ones.

oauth list: your accounts. An account that is needs_login must be signed in to again. --pending lists sign-ins that are in progress. --json prints JSON.
oauth forget ACCOUNT: delete an account and its tokens, by its id or a label that only one has. Its provider is not told.
oauth start: make the address at which you sign in, and print it. --kind ai-provider|mcp-server|generic, --provider NAME, --authorization-endpoint URL, --token-endpoint URL, --client-id ID and --redirect-uri URL, which is /oauth/callback of this gateway; --scope S, --resource URL, --label TEXT, --account-key KEY, and --param key=value, repeated, for further parameters of the address.

MCP servers start their own sign-ins (man mcp); man integrations is the guide.`;

export default defineCommandFile({
  name: "oauth",
  usage: "[list [--pending] [--json] | forget ACCOUNT | start --kind K --provider P ... | help]",
  doc: DOC,
  async run(context, [name = "list", ...args]): Promise<Output | string> {
    switch (name) {
      case "list":
        return list(context, parse(args, 0, { flags: ["json", "pending"] }).options);
      case "forget":
        return forget(context, parse(args, 1, { flags: ["json"] }));
      case "start":
        return start(context, parse(args, 0, { valued: [...Object.keys({ ...REQUIRED, ...OPTIONAL }), "param"], flags: ["json"] }).options);
      case "help":
      case "--help":
        return readManual(context, "oauth");
      default:
        return failUsage(`unknown subcommand ${name}: use one of list, forget, start, help`);
    }
  },
});

type Parsed = { words: string[]; options: Options };

function parse(
  args: readonly string[],
  count: number,
  { valued = [], flags }: { valued?: readonly string[]; flags: readonly string[] },
): Parsed {
  const { words, after, options } = parseOptions(args, { valued, flags });
  const all = [...words, ...(after ?? [])];
  if (all.length !== count) failUsage(count === 0 ? `too many words: ${all.join(" ")}` : "give one account; oauth list shows them");
  return { words: all, options };
}

type Answer = { accounts: OAuthAccountSummary[]; flows?: OAuthFlowSummary[] };

async function list({ link }: CommandContext, options: Options): Promise<string> {
  const isPending = options.has("pending");
  const { accounts, flows = [] } = await link.runSyscall<Answer>("sys.oauth.list", isPending ? { includePending: true } : {});
  if (options.has("json")) return toJson(isPending ? flows : accounts);
  if (isPending) {
    const rows = flows.map(({ flowId, kind, provider, label, expiresAt }) => [
      flowId,
      kind,
      toCell(provider),
      toCell(label),
      toTime(expiresAt),
    ]);
    return formatTable([["FLOW", "KIND", "PROVIDER", "LABEL", "EXPIRES"], ...rows]);
  }
  const rows = accounts.map(({ accountId, state, kind, provider, label, lastUsedAt, usedBy }) => [
    accountId,
    state,
    kind,
    toCell(provider),
    toCell(label),
    toTime(lastUsedAt),
    toCell(usedBy.join(", ")),
  ]);
  return formatTable([["ACCOUNT", "STATE", "KIND", "PROVIDER", "LABEL", "LAST USED", "USED BY"], ...rows]);
}

async function forget({ link }: CommandContext, { words: [wanted = ""], options }: Parsed): Promise<Output | string> {
  const { accounts } = await link.runSyscall<Answer>("sys.oauth.list");
  const { accountId, provider, label } = find(accounts, wanted);
  const answer = await link.runSyscall<{ forgotten: boolean }>("sys.oauth.forget", { accountId });
  if (!answer.forgotten) throw new CommandError(`${wanted} was forgotten meanwhile`);
  if (options.has("json")) return toJson(answer);
  return {
    stdout: `forgot ${toCell(label ?? provider)} (${accountId})\n`,
    stderr: `To end the access at the provider too, remove GSV in your settings there: ${toCell(provider)}\n`,
  };
}

function find(accounts: readonly OAuthAccountSummary[], wanted: string): OAuthAccountSummary {
  const byId = accounts.find(({ accountId }) => accountId === wanted);
  if (byId !== undefined) return byId;
  const byLabel = accounts.filter(({ label }) => label?.toLowerCase() === wanted.toLowerCase());
  if (byLabel.length > 1)
    throw new CommandError(`${wanted} is ambiguous: use account id ${byLabel.map((one) => one.accountId).join(" or ")}`);
  if (byLabel[0] === undefined) throw new CommandError(`no account ${wanted}: oauth list shows yours`);
  return byLabel[0];
}

async function start({ link }: CommandContext, options: Options): Promise<Output> {
  const missing = Object.keys(REQUIRED).filter((name) => !options.has(name));
  if (missing.length > 0) failUsage(`start needs ${missing.map((name) => `--${name}`).join(", ")}`);
  const given = Object.entries({ ...REQUIRED, ...OPTIONAL }).filter(([name]) => options.has(name));
  const args = Object.fromEntries(given.map(([name, argument]) => [argument, options.get(name)]));
  const extraAuthParams = options.has("param") ? { extraAuthParams: parsePairs("param", options.list("param")) } : {};
  type Started = { authorizationUrl: string; flow: OAuthFlowSummary };
  const answer = await link.runSyscall<Started>("sys.oauth.start", { ...args, ...extraAuthParams });
  if (options.has("json")) return { stdout: toJson(answer) };
  const until = toTime(answer.flow.expiresAt);
  return {
    stdout: `${answer.authorizationUrl}\n`,
    stderr: `Open this page in a browser before ${until}; oauth list then shows the account.\n`,
  };
}

/** Providers and labels are texts of others. */
function toCell(text: string | null): string {
  return toLine(text ?? "") || "-";
}

function toTime(ms: number | null): string {
  return ms === null ? "-" : new Date(ms).toISOString();
}

function failUsage(message: string): never {
  throw new CommandError(message, 2);
}
