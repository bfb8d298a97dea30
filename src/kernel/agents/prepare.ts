// Prepares a run once when it starts: looks up the model and the tools, and assembles the context. Everything that a user could have
// written is read as the process's user and bounded; a part that fails is left out, and the run continues. The result is kept for the
// next run of the process, together with a key of everything it was made from, and made again when that key changes.

import type { FileSystem } from "../../hardware/filesystem.ts";
import { Cache } from "../../lib/cache.ts";
import { allows } from "../../lib/capability.ts";
import type { ContextWindow, ContextWindows } from "../../models/window.ts";
import { assembleContext, type ContextPart } from "../../agent/context/assemble.ts";
import { describeDay } from "../../agent/context/date.ts";
import type { ContextFile } from "../../agent/context/section.ts";
import { estimateTokens } from "../../agent/estimate.ts";
import { declareFunctions } from "../../mcp/declarations.ts";
import type { ScriptFunction } from "../../ports/sandbox.ts";
import type { Preparation } from "../../process/kernel-port.ts";
import { DEFAULT_CONVERSATION } from "../../process/rows/conversations.ts";
import { modelTools } from "../../agent/tools.ts";
import { type Caller, isRoot } from "../../protocol/caller.ts";
import type { RunSettings } from "../../protocol/process-settings.ts";
import type { SkillEntry } from "../../protocol/skill-entry.ts";
import type { GatewayTarget } from "../files/gateway-target.ts";
import type { DeviceDetails } from "../nouns/devices.ts";
import { HOME } from "../nouns/repositories.ts";
import type { Repos } from "../repos/repos.ts";
import type { AiSettings } from "./ai-settings.ts";
import { applySettings, type RunModel } from "./effective-settings.ts";
import { levelsOf } from "./settings-calls.ts";
import { readContextFiles, readFirstBytes, type Warn } from "./context-files.ts";
import { type Skill, type SkillFolder, listSkills } from "./skills.ts";
import type { Mcp } from "../mcp/mcp.ts";
import type { UserSettings } from "./user-settings.ts";
import type { Store } from "../store.ts";

export type PrepareArgs = {
  pid: string;
  conversationId: string;
  /** Of the message to answer. */
  settings?: RunSettings | undefined;
  profile: string;
  contextFiles: readonly { name: string; text: string }[];
  caller: Caller;
};

/** `problems` are for the owner of the process: settings that are not used, and why. */
export type PreparedContext = Preparation & { parts: ContextPart[]; toolTokens: number; problems: readonly string[] };

type Tools = ReturnType<typeof modelTools>;

/** The context lists at most this many devices; the process may use the others too. */
const DEVICES_MAX = 100;

/** Of the functions that call MCP tools, in the description of the tool CodeMode. */
const DECLARATIONS_CHARS_MAX = 12_000;

/** Preparations that are kept, each of some ten kilobytes. */
const KEPT_MAX = 256;
/** Lists of tools that are kept. Most processes share one of a few. */
const TOOL_LISTS_MAX = 64;

export type PreparerServices = {
  gatewayTarget: Pick<GatewayTarget, "filesFor">;
  repos: Pick<Repos, "generationOf">;
  windows: Pick<ContextWindows, "resolve">;
  settings: UserSettings;
  mcp: Pick<Mcp, "listReady" | "functionsFor" | "retryFailed">;
};

/** Prepares runs, and serves parts of that to processes and their users: ai.tools, ai.config and ai.skills. */
export class Preparer {
  readonly #store: Store;
  readonly #services: PreparerServices;
  /** By pid, least recently used first. `key` holds everything the preparation was made from. */
  readonly #kept = new Map<string, { key: string; prepared: PreparedContext }>();
  readonly #declarations = new WeakMap<readonly ScriptFunction[], string>();
  readonly #toolLists = new Cache<string, { tools: Tools; tokens: number }>(TOOL_LISTS_MAX);

  constructor(store: Store, services: PreparerServices) {
    this.#store = store;
    this.#services = services;
  }

  /** The same object while nothing has changed that it was made from. */
  async prepare(args: PrepareArgs): Promise<PreparedContext> {
    const { pid } = args;
    const model = this.#modelOf(args.caller.uid, args);
    const window = await this.#contextWindowOf(args.caller.uid, model);
    const devices = listOnlineDevices(this.#store, args.caller);
    this.#services.mcp.retryFailed(args.caller.uid);
    // Before anything is read: what changes while it is read makes the key out of date.
    const key = this.#keyOf(args, model, window, devices);
    const kept = this.#kept.get(pid);
    this.#kept.delete(pid);
    const prepared = kept?.key === key ? kept.prepared : await this.#prepare(args, model, window, devices);
    this.#kept.set(pid, { key, prepared });
    if (this.#kept.size > KEPT_MAX) this.#kept.delete(this.#kept.keys().next().value!);
    return prepared;
  }

  /** The model of a conversation, or of one message in it. */
  #modelOf(uid: number, { settings, ...owner }: Pick<PrepareArgs, "pid" | "conversationId" | "settings">): RunModel {
    return applySettings(this.#services.settings.of(uid).ai, { ...levelsOf(this.#store, owner), message: settings });
  }

  #keyOf(
    { profile, contextFiles, caller }: PrepareArgs,
    { choice, prompt, problems }: RunModel,
    window: ContextWindow,
    devices: readonly DeviceDetails[],
  ): string {
    const { reads } = this.#store;
    const { repos, settings } = this.#services;
    const { uid, capabilities, process } = caller;
    const workspace = process.workspaceId === null ? undefined : reads.workspaces.get(process.workspaceId);
    const owner = workspace === undefined ? undefined : reads.accounts.findByUid(workspace.ownerUid)?.username;
    return JSON.stringify([
      reads.config.generationOf(uid),
      reads.files.generationOfFolders,
      reads.mcpServers.generationOf(uid),
      repos.generationOf(`${process.username}/${HOME}`),
      owner === undefined ? null : [workspace?.state, owner, repos.generationOf(`${owner}/${process.workspaceId}`)],
      describeDay(reads.now, settings.of(uid).ai.timezone),
      window,
      // The rest of a choice follows from the configuration.
      [choice.provider, choice.model, choice.reasoning, choice.maxOutputTokens, prompt, problems],
      profile,
      process,
      contextFiles,
      capabilities,
      devices.map(({ deviceId, description, platform, implements: calls }) => [deviceId, description, platform, calls]),
    ]);
  }

  async #prepare(
    { pid, profile, contextFiles: own, caller }: PrepareArgs,
    model: RunModel,
    window: ContextWindow,
    devices: readonly DeviceDetails[],
  ): Promise<PreparedContext> {
    const { reads } = this.#store;
    const { ai: settings, budgets } = this.#services.settings.of(caller.uid);
    const { maxContextBytes, timezone } = settings;
    const { run, process, problems: budgetProblems } = budgets;
    const files = this.#services.gatewayTarget.filesFor(caller);
    const say = makeWarn(this.#store, pid);
    const { now } = reads;
    const systemFiles = readConfigFiles(this.#store, caller, SYSTEM_FOLDER);
    const profileFiles = readConfigFiles(this.#store, caller, profileContextFolder(profile));
    const [homeFiles, workspace, skills] = await Promise.all([
      readContextFiles(files, `${caller.process.home}/context.d`, maxContextBytes, say),
      readWorkspaceContext(files, caller, maxContextBytes, say),
      findSkills(this.#store, files, caller, profile, say),
    ]);
    const { text, parts } = assembleContext({
      pid,
      profile,
      identity: caller.process,
      devices: devices.map(({ deviceId, description, platform }) => ({ id: deviceId, description, platform })),
      mcpServers: this.#services.mcp.listReady(caller.uid).map(({ name, tools }) => ({ name, description: countTools(tools.length) })),
      systemFiles,
      profileFiles,
      prompt: model.prompt,
      homeFiles,
      workspace,
      skills: skills.map(({ id, description, path, source }) => ({
        id,
        description,
        folder: abbreviateHome(source.path, caller),
        path: abbreviateHome(path, caller),
      })),
      processFiles: own,
      maxContextBytes,
      now,
      timezone,
    });
    const { tools, tokens: toolTokens } = this.#toolsFor(caller, devices);
    return {
      choice: model.choice,
      fallback: model.fallback,
      contextWindow: window.tokens,
      system: text,
      tools,
      budget: { run, process },
      parts,
      toolTokens,
      problems: [...model.problems, ...budgetProblems],
    };
  }

  /** The same array for the same devices and capabilities, so that others can cache what they make of it. */
  #toolsFor(caller: Caller, devices: readonly DeviceDetails[]): { tools: Tools; tokens: number } {
    const { capabilities } = caller;
    const targets = devices.map(({ deviceId, implements: calls }) => ({ id: deviceId, implements: calls }));
    const declarations = this.#declarationsFor(caller);
    return this.#toolLists.get(JSON.stringify([capabilities, targets, declarations]), () => {
      const tools = modelTools(targets, (call) => allows(capabilities, call), declarations);
      return { tools, tokens: estimateTokens(tools) };
    });
  }

  /** What scripts can call beyond the tools. Written anew only when the functions change. */
  #declarationsFor(caller: Caller): string {
    const functions = this.#services.mcp.functionsFor(caller);
    const known = this.#declarations.get(functions) ?? declareFunctions(functions, DECLARATIONS_CHARS_MAX);
    this.#declarations.set(functions, known);
    return known;
  }

  listTools(caller: Caller) {
    const devices = listOnlineDevices(this.#store, caller);
    return {
      tools: this.#toolsFor(caller, devices).tools.map(({ name, description, parameters }) => ({
        name,
        description,
        inputSchema: parameters,
      })),
      devices: devices.map(({ deviceId, implements: calls, description, platform }) => ({
        id: deviceId,
        implements: calls,
        ...(description === "" ? {} : { description }),
        ...(platform === "" ? {} : { platform }),
      })),
      mcpServers: this.#services.mcp.listReady(caller.uid).map(({ name }) => name),
    };
  }

  /** Never contains a key: what an agent reads goes to a model and may be repeated anywhere. */
  async readConfig(caller: Caller, profile: string) {
    const { config } = this.#store.reads;
    const { ai: settings, budgets } = this.#services.settings.of(caller.uid);
    const { pid = "", conversationId } = caller.agent ?? {};
    const run = this.#modelOf(caller.uid, { pid, conversationId: conversationId ?? DEFAULT_CONVERSATION });
    const { provider, model, reasoning, maxOutputTokens, apiKey } = run.choice;
    const say = makeWarn(this.#store, pid);
    const [window, skills] = await Promise.all([
      this.#contextWindowOf(caller.uid, run),
      findSkills(this.#store, this.#services.gatewayTarget.filesFor(caller), caller, profile, say),
    ]);
    return {
      profile,
      provider,
      model,
      apiKey: "" as const,
      hasKey: apiKey !== "",
      reasoning,
      maxTokens: maxOutputTokens,
      contextWindowTokens: window.tokens,
      contextWindowSource: window.source,
      systemContextFiles: readConfigFiles(this.#store, caller, SYSTEM_FOLDER),
      profileContextFiles: readConfigFiles(this.#store, caller, profileContextFolder(profile)),
      skillIndex: skills.map((skill) => toSkillEntry(skill, caller)),
      profileApprovalPolicy: config.get(`config/ai/profile/${profile}/tools/approval`) ?? null,
      maxContextBytes: settings.maxContextBytes,
      problems: [...run.problems, ...budgets.problems],
    };
  }

  /** The skills of a process with this profile that runs as `caller`, and where they are. */
  async listSkills(caller: Caller, profile: string) {
    const say = makeWarn(this.#store, caller.agent?.pid ?? "");
    const skills = await findSkills(this.#store, this.#services.gatewayTarget.filesFor(caller), caller, profile, say);
    return skills.map((skill) => ({ ...toSkillEntry(skill, caller), path: skill.path }));
  }

  #contextWindowOf(uid: number, { choice }: RunModel): Promise<ContextWindow> {
    const { contextWindow, catalogue }: AiSettings = this.#services.settings.of(uid).ai;
    return this.#services.windows.resolve(choice, { ...contextWindow, catalogue });
  }
}

function listOnlineDevices({ reads, ports: { log } }: Store, caller: Caller): DeviceDetails[] {
  const online = reads.devices.list(caller).filter((device) => device.online);
  if (online.length > DEVICES_MAX) log.warn("too many devices to list for a process", { uid: caller.uid, devices: online.length });
  return online.slice(0, DEVICES_MAX);
}

const SYSTEM_FOLDER = "config/ai/context.d";

function profileContextFolder(profile: string): string {
  return `config/ai/profile/${profile}/context.d`;
}

/** The keys directly below a folder of root's configuration, as files. */
function readConfigFiles({ reads: { config }, ports: { log } }: Store, caller: Caller, folder: string): ContextFile[] {
  try {
    return config
      .list(caller, folder)
      .map(({ key, value }) => ({ name: key.slice(folder.length + 1), text: value }))
      .filter(({ name }) => name.endsWith(".md") && !name.includes("/"));
  } catch (error) {
    log.warn("context files in the configuration cannot be read", { folder, error: String(error) });
    return [];
  }
}

async function readWorkspaceContext(files: FileSystem, { process: { workspaceId } }: Caller, maxBytes: number, say: Warn) {
  if (workspaceId === null) return null;
  const folder = `/workspaces/${workspaceId}/.gsv`;
  const found = await readContextFiles(files, `${folder}/context.d`, maxBytes, say);
  if (found.length > 0) return { id: workspaceId, files: found, summary: "" };
  const [head] = await readFirstBytes(files, [`${folder}/summary.md`], maxBytes + 1);
  return { id: workspaceId, files: [], summary: truncate(head ?? new Uint8Array(), maxBytes, `${folder}/summary.md`) };
}

/** The whole text if it fits, else its first bytes up to a character boundary and the path of the rest. */
function truncate(head: Uint8Array, maxBytes: number, path: string): string {
  if (head.length <= maxBytes) return new TextDecoder().decode(head);
  const more = `\n\n(The rest is in ${path}.)`;
  return `${new TextDecoder().decode(head.slice(0, Math.max(0, maxBytes - more.length)), { stream: true })}${more}`;
}

function findSkills({ reads }: Store, files: FileSystem, caller: Caller, profile: string, say: Warn): Promise<Skill[]> {
  const { home, workspaceId } = caller.process;
  const folders: SkillFolder[] = [
    {
      kind: "profile",
      path: `/sys/config/ai/profile/${profile}/skills.d`,
      writable: isRoot(caller),
      isShipped: (path) => !reads.config.isSet(path.slice("/sys/".length)),
    },
    { kind: "home", path: `${home}/skills.d`, writable: true },
  ];
  if (workspaceId !== null) {
    const writable = reads.workspaces.get(workspaceId)?.state !== "archived";
    folders.push({ kind: "workspace", path: `/workspaces/${workspaceId}/.gsv/skills.d`, writable });
  }
  return listSkills(files, folders, say);
}

function toSkillEntry({ id, name, description, source: { kind, path, writable } }: Skill, caller: Caller): SkillEntry {
  return { id, name, description, source: { kind, label: abbreviateHome(path, caller), writable } };
}

/** Abbreviates the home directory to ~. */
function abbreviateHome(path: string, { process: { home } }: Caller): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

function countTools(count: number): string {
  return `${count} ${count === 1 ? "tool" : "tools"}`;
}

function makeWarn({ ports: { log } }: Store, pid: string): Warn {
  return (what, fields) => log.warn(what, { pid, ...fields });
}
