// Reads and changes settings of processes and conversations, the bodies of proc.settings.*, and ends postures in time. Only people
// change settings: the gate refuses agents. Who may use a process is decided in agents.ts.

import { TRUSTED_MS } from "../../approval/posture.ts";
import { fail } from "../../lib/sys-error.ts";
import { conversationIdOrDefault } from "../../process/conversation/conversation-calls.ts";
import type { Caller } from "../../protocol/caller.ts";
import type { ModelRef, Posture, ProcessSettings, RunSettings, SettingsResult, Thinking } from "../../protocol/process-settings.ts";
import type { ProcessRow } from "../nouns/processes.ts";
import type { SettingsOwner } from "../nouns/process-settings.ts";
import type { Part } from "../part.ts";
import type { Store } from "../store.ts";
import { isUnattended } from "./policies.ts";
import { findPosture, postureEndOf } from "./postures.ts";
import { applySettings, mustBeAvailable, type SettingsLevels } from "./effective-settings.ts";
import type { AskProcess } from "./questions.ts";
import type { UserSettings } from "./user-settings.ts";

/** What is missing stays; null clears. */
export type SettingsChange = {
  model?: ModelRef | null | undefined;
  thinking?: Thinking | null | undefined;
  prompt?: string | null | undefined;
  maxTokens?: number | null | undefined;
  posture?: Posture | null | undefined;
};

export class SettingsCalls implements Part {
  readonly #store: Store;
  readonly #users: UserSettings;
  readonly #call: AskProcess;

  constructor(store: Store, users: UserSettings, call: AskProcess) {
    this.#store = store;
    this.#users = users;
    this.#call = call;
  }

  read(process: ProcessRow, conversationId: string | undefined): SettingsResult {
    const owner = ownerOf(process, conversationId);
    const { pid } = process;
    const settings = this.#store.reads.processSettings.get(owner);
    const { choice, prompt, modelFrom } = applySettings(this.#users.of(process.uid).ai, this.#levelsOf(owner));
    const { provider, model, reasoning: thinking, maxOutputTokens: maxTokens } = choice;
    const effective = {
      provider,
      model,
      thinking,
      maxTokens,
      hasPrompt: prompt !== null,
      modelFrom,
      ...findPosture(this.#store.reads, owner),
    };
    return { ok: true, pid, conversationId: owner.conversationId, settings, effective };
  }

  async change(caller: Caller, process: ProcessRow, conversationId: string | undefined, change: SettingsChange): Promise<SettingsResult> {
    if (caller.agent !== undefined) fail(403, "A process cannot change settings: a person does that");
    const owner = ownerOf(process, conversationId);
    const { pid } = process;
    if (change.posture !== undefined) checkPosture(caller, process, change.posture);
    if (change.model != null) mustBeAvailable(this.#users.of(process.uid).ai, change.model);
    await this.#mustExist(owner);
    await this.#store.commit(({ processSettings, now, wakeBy }) => {
      const settings = merge(processSettings.get(owner), change, now);
      processSettings.set(owner, settings);
      wakeBy(settings.postureEndsAt);
    });
    await this.#announce(owner);
    return this.read(this.#store.reads.processes.get(pid) ?? process, conversationId);
  }

  /** Ends postures whose time is over, which count as over even if this is late. */
  onWake(now: number): void {
    const ended = this.#listEnded(now);
    if (ended.length === 0) return;
    this.#store.write(({ processSettings }) => {
      for (const owner of ended) processSettings.set(owner, { ...processSettings.get(owner), posture: null, postureEndsAt: null });
    });
    for (const owner of ended) void this.#announce(owner);
  }

  nextDueAt(): number | null {
    return this.#store.reads.processSettings.nextDueAt();
  }

  #listEnded(now: number): SettingsOwner[] {
    return this.#store.reads.processSettings.listEnded(now, now + TRUSTED_MS);
  }

  /** Fails for a message whose model is not available. */
  checkForMessage({ uid }: ProcessRow, { model }: RunSettings): void {
    if (model !== undefined) mustBeAvailable(this.#users.of(uid).ai, model);
  }

  #levelsOf(owner: SettingsOwner): SettingsLevels {
    return levelsOf(this.#store, owner);
  }

  async #mustExist({ pid, conversationId }: SettingsOwner): Promise<void> {
    if (conversationId === null || (await this.#call(pid, "getConversation", { conversationId })) !== null) return;
    fail(404, `Unknown conversation: ${conversationId}`);
  }

  /** Tells followers. The settings are stored already, so a failure is only logged. */
  async #announce({ pid, conversationId }: SettingsOwner): Promise<void> {
    try {
      await this.#call(pid, "announceSettings", conversationId === null ? {} : { conversationId });
    } catch (error) {
      this.#store.ports.log.error("a change of settings could not be announced", { pid, error: String(error) });
    }
  }
}

export function levelsOf({ reads: { processSettings } }: Store, { pid, conversationId }: SettingsOwner): Omit<SettingsLevels, "message"> {
  return {
    conversation: conversationId === null ? null : processSettings.get({ pid, conversationId }),
    process: processSettings.get({ pid, conversationId: null }),
  };
}

function ownerOf({ pid }: ProcessRow, conversationId: string | undefined): SettingsOwner {
  return { pid, conversationId: conversationId === undefined ? null : conversationIdOrDefault(conversationId) };
}

function checkPosture({ uid }: Caller, process: ProcessRow, posture: Posture | null): void {
  // Not even root: whoever is asked decides how often.
  if (uid !== process.uid) fail(403, "Only the owner of a process can choose how often it asks");
  if (posture !== null && isUnattended(process.profile))
    fail(400, `A process with profile ${process.profile} works unattended: nobody can be asked, so it cannot have a posture`);
}

function merge(old: ProcessSettings, { model, thinking, prompt, maxTokens, posture }: SettingsChange, now: number): ProcessSettings {
  return {
    ...old,
    ...(posture === undefined ? {} : { posture, postureEndsAt: postureEndOf(posture, now) }),
    model: model === undefined ? old.model : model,
    thinking: thinking === undefined ? old.thinking : thinking,
    prompt: prompt === undefined ? old.prompt : prompt || null,
    maxTokens: maxTokens === undefined ? old.maxTokens : maxTokens,
  };
}
