// The manual page of a syscall, from its declaration as plain data: docs/reference and the gateway's /etc/man show the same text.

import { formatSchemaAsType } from "../lib/schema-text.ts";
import type { SyscallReference } from "../protocol/reference.ts";

const DOES = {
  read: "a read: changes nothing",
  write: "a write: one transaction, durable before it is answered; may carry a `key`",
  effect: "an effect: awaits something; what it changes is durable before it is answered",
};

export function manualPage(call: SyscallReference): string {
  const strangers = call.from.includes("stranger");
  const who = strangers
    ? "a socket without identity, once"
    : `${call.only === "processes" ? "processes of agents" : `${call.from.join(", ")} connections${call.only === "people" ? ", not agents," : ""}`} holding \`${call.name}\`; ${call.grant.length > 0 ? `granted by default to ${call.grant.join(", ")}` : "root only, until root grants it to a group"}`;
  const failures = Object.entries(call.fails);
  const table =
    failures.length === 0
      ? ""
      : `\n| code | when |\n| --- | --- |\n${failures.map(([code, when]) => `| ${code} | ${when} |`).join("\n")}\n`;
  const request = { type: "req", id: "1", call: call.name, args: call.example.args };
  const response = { type: "res", id: "1", ok: true, data: call.example.result };
  return `## ${call.name}

${call.doc}

- Who may call it: ${who}.
- It is ${DOES[call.does]}.

\`\`\`ts
args: ${formatSchemaAsType(call.args, 0)}
result: ${formatSchemaAsType(call.result, 0)}
\`\`\`
${table}
\`\`\`json
${JSON.stringify(request)}
${JSON.stringify(response)}
\`\`\`
`;
}
