// A request for a call and what is known about it before a decision: where it runs, its tags, its resolved paths. tags.ts builds
// it; policy.ts, grants.ts and show.ts read it.

/** The call of a tool of an MCP server. Its target names the tool and its server. */
export const MCP_CALL = "sys.mcp.call";

/** One call that is about to run, with its arguments. */
export type CallToJudge = {
  call: string;
  args: Readonly<Record<string, unknown>>;
  profile: string;
  /** The working directory of the process on the gateway. */
  cwd: string;
  home: string;
  workspace: string | null;
  /**
   * The device that the kernel forwards the call to, or null for the gateway. If absent, a session counts as on a device, because
   * nothing in its arguments says where it runs.
   */
  device?: string | null;
  /** The permanent names of the devices that the call reaches; a copy reaches two. Absent if they are not known. */
  devices?: readonly string[];
};

export type TargetClass = "gsv" | "device";

/** Every tag with the reason it gives, phrased to follow "because". */
export const TAGS = {
  remote: "it reaches a device",
  mutating: "it changes files",
  destructive: "it may destroy something",
  network: "it may use the network",
  privileged: "it may use elevated rights",
  "hidden-path": "it names a hidden file",
  "outside-cwd": "it names a path outside the working directory",
  "outside-home": "it names a path outside the home directory",
  "in-home": "it only changes files in the home directory",
  "in-workspace": "it only changes files in workspaces",
  scratch: "it only changes temporary files",
  shared: "it only changes files that all users of the gateway share",
  "onto-device": "it changes something on a device, or runs there",
  "policy-bearing": "it touches files or settings that control agents or machines",
  deletes: "it deletes something",
  "reads-secret": "it may read secrets",
  connects: "a command in it uses the network",
  elevates: "a command in it uses elevated rights",
  opaque: "what it runs cannot be known in advance",
  unvetted: "a program or an option in it is not known to be harmless",
  compound: "it is more than one simple command",
  "unknown-path": "where it writes cannot be known in advance",
  "unknown-reads": "which files or variables it reads cannot be known in advance",
  looks: "it only checks on a running command",
} as const;

export type Tag = keyof typeof TAGS;

export function isTag(text: string): text is Tag {
  return Object.hasOwn(TAGS, text);
}

/** A request with everything that the conditions of a rule can test. */
export type JudgedCall = CallToJudge & {
  target: TargetClass;
  tags: ReadonlySet<Tag>;
  /** The path as the target resolves it, without `.` and `..`; null if only the target can resolve it. */
  normalizePath: (path: string) => string | null;
};
