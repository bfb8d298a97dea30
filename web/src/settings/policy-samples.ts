// Typical calls of agents, to try a policy on, and words for what a policy decides.

export type Sample = { title: string; call: string; args: Record<string, unknown> };

export const SAMPLES: readonly Sample[] = [
  { title: "Run a command on a machine", call: "shell.exec", args: { input: "uname -a", target: "laptop" } },
  { title: "Run a command on the gateway", call: "shell.exec", args: { input: "ls ~" } },
  { title: "Read a file at home on the gateway", call: "fs.read", args: { path: "~/notes.md" } },
  { title: "Write a file at home on the gateway", call: "fs.write", args: { path: "~/notes.md", content: "x" } },
  { title: "Delete a file on the gateway", call: "fs.delete", args: { path: "~/notes.md" } },
  { title: "Delete by a command on the gateway", call: "shell.exec", args: { input: "rm -r ~/old" } },
  { title: "Delete a file on a machine", call: "fs.delete", args: { path: "notes.md", target: "laptop" } },
  { title: "Delete by a command on a machine", call: "shell.exec", args: { input: "rm -r old", target: "laptop" } },
  { title: "Run a script on a machine", call: "shell.exec", args: { input: "python3 clean.py", target: "laptop" } },
  { title: "Read a secret key", call: "fs.read", args: { path: "~/.ssh/id_ed25519" } },
  { title: "Read a file on a machine", call: "fs.read", args: { path: "/etc/hosts", target: "laptop" } },
  { title: "Write a file on a machine", call: "fs.write", args: { path: "notes.md", content: "x", target: "laptop" } },
  { title: "Fetch from the web", call: "shell.exec", args: { input: "curl https://example.com" } },
  { title: "Change how it behaves", call: "fs.write", args: { path: "~/context.d/10-me.md", content: "x" } },
  { title: "Start a helper", call: "proc.spawn", args: { profile: "task", prompt: "x" } },
  { title: "Add a schedule", call: "sched.add", args: { name: "x" } },
  { title: "Change a setting", call: "sys.config.set", args: { key: "config/server/name", value: "x" } },
];

export const ACTION_WORDS = { auto: "Runs without asking", ask: "Asks you", deny: "Never runs" } as const;
export const ACTION_TONES = { auto: "good", ask: "warn", deny: "bad" } as const;
