// Typical calls of agents, to test a policy on, and texts for the actions of a policy.

export type Sample = { title: string; call: string; args: Record<string, unknown> };

export const SAMPLES: readonly Sample[] = [
  { title: "Read a file at home", call: "fs.read", args: { path: "~/notes.md" } },
  { title: "Write a file at home", call: "fs.write", args: { path: "~/notes.md", content: "x" } },
  { title: "Delete a file", call: "fs.delete", args: { path: "~/notes.md" } },
  { title: "Read a file on a machine", call: "fs.read", args: { path: "/etc/hosts", target: "laptop" } },
  { title: "Write a file on a machine", call: "fs.write", args: { path: "notes.md", content: "x", target: "laptop" } },
  { title: "List files by a command", call: "shell.exec", args: { input: "ls ~" } },
  { title: "Delete by a command", call: "shell.exec", args: { input: "rm -r ~/old" } },
  { title: "Fetch from the web", call: "shell.exec", args: { input: "curl https://example.com" } },
  { title: "Run a command on a machine", call: "shell.exec", args: { input: "uname -a", target: "laptop" } },
  { title: "Change how it behaves", call: "fs.write", args: { path: "~/context.d/10-me.md", content: "x" } },
  { title: "Start another agent", call: "proc.spawn", args: { profile: "task", prompt: "x" } },
  { title: "Change a setting", call: "sys.config.set", args: { key: "config/server/name", value: "x" } },
];

export const ACTION_WORDS = { auto: "runs by itself", ask: "is asked about", deny: "never runs" } as const;
export const ACTION_TONES = { auto: "good", ask: "warn", deny: "bad" } as const;
