// The pages of Settings and every single setting, for the navigation of Settings and for Find. No component is imported here.

import { mayCall, session } from "../state/session.ts";
import type { IconName } from "../ui/icon.tsx";

export type SettingsPage = {
  id: string;
  title: string;
  text: string;
  icon: IconName;
  group: "Agents" | "Gateway" | "You";
  /** The capability it needs. */
  needs: string | null;
  isForRoot?: true;
};

/** `path` leads to the setting: the part after the page is the anchor, an element with the id `setting-<anchor>`. */
export type Setting = { title: string; words: string; path: string; needs: string | null; group: string };

export const SETTINGS_PAGES: readonly SettingsPage[] = [
  { id: "ai", title: "AI", text: "Which model answers, and where it runs.", icon: "chat", group: "Agents", needs: "sys.config.get" },
  {
    id: "permissions",
    title: "Permissions",
    text: "What agents do without asking, and what they ask about.",
    icon: "approval",
    group: "Agents",
    needs: "proc.approval.preview",
  },
  { id: "limits", title: "Limits", text: "How much agents may use.", icon: "info", group: "Agents", needs: "proc.spending" },
  {
    id: "people",
    title: "People",
    text: "Users of this gateway, and their groups.",
    icon: "person",
    group: "Gateway",
    needs: "sys.user.list",
    isForRoot: true,
  },
  {
    id: "network",
    title: "Network",
    text: "Private addresses that agents and integrations may reach.",
    icon: "machine",
    group: "Gateway",
    needs: "sys.config.set",
    isForRoot: true,
  },
  { id: "gateway", title: "Status", text: "Version, address and checks.", icon: "check", group: "Gateway", needs: "sys.info" },
  {
    id: "notifications",
    title: "Notifications",
    text: "What interrupts you, and on which devices.",
    icon: "notification",
    group: "You",
    needs: "notification.settings.get",
  },
  { id: "appearance", title: "Appearance", text: "Theme and density of this browser.", icon: "sun", group: "You", needs: null },
  {
    id: "tokens",
    title: "Access tokens",
    text: "Access tokens for browsers, machines and scripts.",
    icon: "keyboard",
    group: "You",
    needs: "sys.token.list",
  },
  { id: "account", title: "Account", text: "Password, phones, and sign out.", icon: "person", group: "You", needs: "sys.user.password" },
];

const SETTINGS: readonly [page: string, anchor: string, title: string, words: string][] = [
  ["ai", "model", "Model", "provider anthropic openai google ollama lm studio llm server which model answers default demo"],
  ["ai", "key", "API key", "secret provider credentials"],
  ["ai", "thinking", "Thinking", "reasoning effort level"],
  ["ai", "length", "Longest answer", "max tokens context window"],
  ["ai", "fallback", "Fallback model", "second provider when the first fails"],
  ["permissions", "actions", "What agents may do", "policy permissions ask allow never commands files delete network secrets"],
  ["permissions", "machines", "What agents may do on a machine", "policy permissions laptop override"],
  ["permissions", "try", "Try a call", "preview test policy"],
  ["permissions", "advanced", "Policy as JSON", "advanced rules"],
  ["limits", "run", "Limit per run", "single each budget spend money cost dollars tokens minutes"],
  ["limits", "process", "Limit per agent", "budget spend money cost dollars tokens"],
  ["limits", "day", "Limit per day", "daily budget spend spending money cost dollars tokens"],
  ["limits", "used", "Usage", "spend spending money dollars tokens cost chart"],
  ["people", "users", "Users", "add a user invite lock password"],
  ["people", "groups", "Groups", "members share"],
  ["network", "hosts", "Private addresses", "allowed hosts local network lan"],
  ["gateway", "status", "Status", "version address about"],
  ["gateway", "checks", "Run checks", "doctor diagnose health problems"],
  ["notifications", "push", "Push messages", "phone browser interrupt"],
  ["notifications", "levels", "What interrupts you", "levels quiet mute"],
  ["appearance", "theme", "Theme", "dark light mode colour"],
  ["appearance", "density", "Density", "comfortable compact size"],
  ["tokens", "tokens", "Access tokens", "revoke browser script machine login credentials"],
  ["account", "password", "Password", "change"],
  ["account", "phone", "Sign in on a phone", "qr code"],
  ["account", "install", "Install GSV", "app home screen phone desktop"],
  ["account", "logout", "Sign out", "log out leave"],
];

export const SETTINGS_INDEX: readonly Setting[] = SETTINGS.map(([id, anchor, title, words]) => {
  const page = SETTINGS_PAGES.find((one) => one.id === id)!;
  return { title, words: `${page.title} ${words}`, path: `/settings/${id}/${anchor}`, needs: page.needs, group: page.title };
});

/** Addresses of earlier versions. */
export const RENAMED_PAGES: Readonly<Record<string, string>> = {
  policy: "permissions",
  approvals: "permissions",
  budgets: "limits",
  users: "people",
  look: "appearance",
  about: "gateway",
};

/** The pages that the user may see. */
export function listPages(): SettingsPage[] {
  const isRoot = session.value?.identity.process.uid === 0;
  return SETTINGS_PAGES.filter(({ needs, isForRoot = false }) => (needs === null || mayCall(needs)) && (isRoot || !isForRoot));
}

/** The settings of those pages. */
export function listSettings(): Setting[] {
  const pages = new Set(listPages().map(({ id }) => id));
  return SETTINGS_INDEX.filter(({ path }) => pages.has(path.split("/")[2]!));
}
