// The screens, in ONE table. Each is a file of its own beside this one and a chunk of its own when built, loaded when it
// is first shown. A screen's default export is a component of ScreenProps.

import type { ComponentType } from "preact";
import type { PaneName } from "../frame/route.ts";
import type { IconName } from "../ui/icon.tsx";

/** `rest` is what follows the screen's own path, decoded: at /chat/4f1c it is ["4f1c"]. */
export type ScreenProps = { rest: readonly string[]; pane: PaneName };

export type ScreenEntry = {
  id: string;
  /** Its first part of the address, "" for the page one comes to. */
  path: string;
  title: string;
  icon: IconName;
  /** The key after g that goes there. */
  key: string | null;
  /** In the bar; others are reached by links and the palette. */
  inBar: boolean;
  load: () => Promise<{ default: ComponentType<ScreenProps> }>;
};

export const SCREENS: readonly ScreenEntry[] = [
  { id: "home", path: "", title: "Home", icon: "home", key: "h", inBar: true, load: () => import("./home.tsx") },
  { id: "chat", path: "chat", title: "Chat", icon: "chat", key: "c", inBar: true, load: () => import("./chat.tsx") },
  {
    id: "approvals",
    path: "approvals",
    title: "Approvals",
    icon: "approval",
    key: "a",
    inBar: true,
    load: () => import("./approvals.tsx"),
  },
  { id: "machines", path: "machines", title: "Machines", icon: "machine", key: "m", inBar: true, load: () => import("./machines.tsx") },
  { id: "settings", path: "settings", title: "Settings", icon: "settings", key: "s", inBar: true, load: () => import("./settings.tsx") },
  { id: "pieces", path: "pieces", title: "Pieces", icon: "pieces", key: null, inBar: false, load: () => import("./pieces.tsx") },
];

export function screenAt(parts: readonly string[]): ScreenEntry | null {
  return SCREENS.find(({ path }) => path === (parts[0] ?? "")) ?? null;
}
