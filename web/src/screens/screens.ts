// The table of all screens. Each screen is a file in this folder and a separate chunk of the build, loaded when it is first shown.
// Its default export is a component of ScreenProps.

import type { ComponentType } from "preact";
import type { PaneName } from "../frame/route.ts";
import type { IconName } from "../ui/icon.tsx";

/** `rest`: the decoded segments after the screen's own path. At /chat/4f1c it is ["4f1c"]. */
export type ScreenProps = { rest: readonly string[]; pane: PaneName };

export type ScreenEntry = {
  id: string;
  /** First segment of its address; "" for the start page. */
  path: string;
  title: string;
  icon: IconName;
  /** The key that opens it after g. */
  key: string | null;
  /** Listed in the bar; other screens are reached by links and Find. */
  inBar: boolean;
  /** Has a place of its own in the bar of a phone; the others are behind More. */
  isFirst?: boolean;
  load: () => Promise<{ default: ComponentType<ScreenProps> }>;
};

export const SCREENS: readonly ScreenEntry[] = [
  { id: "home", path: "", title: "Home", icon: "home", key: "h", inBar: true, isFirst: true, load: () => import("./home.tsx") },
  { id: "chat", path: "chat", title: "Chat", icon: "chat", key: "c", inBar: true, isFirst: true, load: () => import("./chat.tsx") },
  {
    id: "approvals",
    path: "approvals",
    title: "Approvals",
    icon: "approval",
    key: "a",
    inBar: true,
    isFirst: true,
    load: () => import("./approvals.tsx"),
  },
  {
    id: "schedules",
    path: "schedules",
    title: "Schedules",
    icon: "schedule",
    key: "t",
    inBar: true,
    load: () => import("./schedules.tsx"),
  },
  {
    id: "notifications",
    path: "notifications",
    title: "Notifications",
    icon: "notification",
    key: "n",
    inBar: true,
    isFirst: true,
    load: () => import("./notifications.tsx"),
  },
  { id: "machines", path: "machines", title: "Machines", icon: "machine", key: "m", inBar: true, load: () => import("./machines.tsx") },
  {
    id: "integrations",
    path: "integrations",
    title: "Integrations",
    icon: "integration",
    key: "i",
    inBar: true,
    load: () => import("./integrations.tsx"),
  },
  { id: "settings", path: "settings", title: "Settings", icon: "settings", key: "s", inBar: true, load: () => import("./settings.tsx") },
  { id: "pieces", path: "pieces", title: "Pieces", icon: "pieces", key: null, inBar: false, load: () => import("./pieces.tsx") },
];

export function screenAt(parts: readonly string[]): ScreenEntry | null {
  return SCREENS.find(({ path }) => path === (parts[0] ?? "")) ?? null;
}
