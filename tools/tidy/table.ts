// Which folder may import which. ARCHITECTURE.md prints this table, test/tools/tidy.test.ts enforces it.

/**
 * `imports` names folders or single files; `types` those of which only types may be imported. `packages` are those a portable
 * folder may use; other folders may use any.
 */
export type Folder = { about: string; imports: readonly string[]; types?: readonly string[]; packages?: readonly string[] };

/** From the bottom up: a folder comes after those it imports. Paths are relative to `src`, except `web/src`. */
export const FOLDERS: Readonly<Record<string, Folder>> = {
  lib: { about: "pure helpers, one idea per file", imports: [], packages: [] },
  protocol: { about: "frames, limits, callers, records that cross a boundary", imports: ["lib"], packages: ["zod"] },
  ports: { about: "what a host must provide", imports: ["lib"], types: ["protocol/proc-records.ts"], packages: [] },
  generated: { about: "source files that the build writes; not in git", imports: ["protocol"], packages: [] },
  calls: {
    about: "what every syscall declares, its manual page, and how arguments are decoded",
    imports: ["lib", "protocol"],
    packages: ["zod"],
  },
  hardware: {
    about: "files and shell of any target, and the calls that run on one",
    imports: ["calls", "lib", "ports", "protocol"],
    packages: ["file-type", "zod"],
  },
  sandbox: {
    about: "scripts of agents and people, in an engine of their own, and the call that runs there",
    imports: ["calls", "lib", "ports", "protocol"],
    packages: ["quickjs-wasi", "zod"],
  },
  schedules: {
    about: "when schedules run: cron expressions, time zones, and plain words for both",
    imports: ["lib"],
    types: ["protocol/schedule-records.ts"],
    packages: ["croner"],
  },
  vfs: { about: "the gateway's own tree of files", imports: ["generated", "hardware", "lib", "ports", "protocol"], packages: [] },
  mcp: {
    about: "one MCP server: its connection, how to sign in to it, and the functions by which scripts call its tools",
    imports: ["lib", "ports", "protocol"],
    packages: ["@modelcontextprotocol"],
  },
  shell: {
    about: "the gateway's own shell",
    imports: ["hardware", "lib", "mcp/declarations.ts", "mcp/functions.ts", "ports", "vfs/path.ts"],
    types: [
      "protocol/mcp-records.ts",
      "protocol/notification-records.ts",
      "protocol/oauth-records.ts",
      "protocol/schedule-records.ts",
      "protocol/watch-records.ts",
    ],
    packages: ["diff", "just-bash/browser"],
  },
  approval: {
    about: "whether a call of an agent runs, is asked about or is refused",
    imports: ["lib", "shell/syntax.ts", "vfs/path.ts"],
    types: ["protocol/process-settings.ts"],
    packages: ["just-bash/browser", "zod"],
  },
  repo: { about: "git repositories", imports: ["lib", "ports"], packages: ["diff", "pako"] },
  models: { about: "model providers", imports: ["lib", "ports", "protocol"], packages: ["@ai-sdk"] },
  agent: {
    about: "what a model is told: prompts, context, tools and their results",
    imports: ["calls", "hardware", "lib", "ports", "sandbox/calls"],
    types: ["protocol/proc-records.ts"],
    packages: ["zod"],
  },
  process: {
    about: "a durable agent",
    imports: ["agent", "lib", "ports", "protocol", "sandbox/calls/result.ts", "sandbox/limits.ts", "sandbox/script-calls.ts"],
    packages: [],
  },
  kernel: {
    about: "everything the gateway knows and decides",
    imports: [
      "agent",
      "approval",
      "calls",
      "generated",
      "hardware",
      "lib",
      "mcp",
      "models",
      "ports",
      "process",
      "protocol",
      "repo",
      "sandbox/calls",
      "sandbox/limits.ts",
      "sandbox/script-calls.ts",
      "schedules",
      "shell/kernel-client.ts",
      "vfs",
    ],
    packages: ["hono", "zod"],
  },
  client: {
    about: "the typed WebSocket client",
    imports: ["hardware/body.ts", "lib", "protocol"],
    types: ["calls/define.ts", "kernel/calls/table.ts"],
    packages: [],
  },
  "hosts/shared": {
    about: "what both hosts use, and files that only their owner may change, for every program on Node",
    imports: ["lib", "ports"],
  },
  "hosts/node": {
    about: "the gateway on Node",
    imports: ["hardware", "hosts/shared", "kernel", "lib", "models", "ports", "process", "protocol", "repo", "sandbox", "shell"],
  },
  "hosts/cloudflare": {
    about: "the gateway on Cloudflare",
    imports: [
      "generated",
      "hardware",
      "hosts/shared",
      "kernel",
      "lib",
      "models",
      "ports",
      "process",
      "protocol",
      "repo",
      "sandbox",
      "shell",
    ],
  },
  device: {
    about: "the daemon on other machines",
    imports: ["calls", "client", "hardware", "hosts/shared", "lib", "ports", "protocol"],
  },
  cli: {
    about: "the command line",
    imports: ["approval", "client", "device", "generated", "hardware", "hosts/node", "hosts/shared", "lib", "protocol"],
  },
  "web/src": {
    about: "the web desktop",
    imports: [
      "approval/asked-call.ts",
      "approval/request.ts",
      "approval/show.ts",
      "approval/switches.ts",
      "approval/visible.ts",
      "approval/visible-code.ts",
      "client/client.ts",
      "lib",
      "mcp/declarations.ts",
      "mcp/functions.ts",
      "models/providers.ts",
      "protocol/desktop-path.ts",
      "protocol/limits.ts",
      "protocol/notification-levels.ts",
      "protocol/push-message.ts",
      "protocol/signal-names.ts",
      "sandbox/script-calls.ts",
    ],
    types: ["approval/policy.ts", "protocol/push-records.ts"],
  },
};
