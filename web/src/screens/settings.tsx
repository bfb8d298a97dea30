// Settings: the navigation beside one page, each page at its own address. A narrow pane shows either the navigation or a page. The
// part of the address after the page scrolls to one setting.

import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useActions } from "../frame/actions.ts";
import { Link } from "../frame/link.tsx";
import { go, joinPath } from "../frame/route.ts";
import { usePaneTitle } from "../frame/titles.ts";
import { NotificationSettings } from "../notifications/notification-settings.tsx";
import { Account } from "../settings/account.tsx";
import { AiSettings } from "../settings/ai-settings.tsx";
import { Appearance } from "../settings/appearance.tsx";
import { PermissionSettings } from "../settings/permission-settings.tsx";
import { GatewayStatus } from "../settings/gateway-status.tsx";
import { Limits } from "../settings/limits.tsx";
import { Network } from "../settings/network.tsx";
import { People } from "../settings/people.tsx";
import { listPages, RENAMED_PAGES } from "../settings/settings-index.ts";
import { SettingsNav } from "../settings/settings-nav.tsx";
import { Tokens } from "../settings/tokens.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon } from "../ui/icon.tsx";
import type { ScreenProps } from "./screens.ts";
import "../settings/settings.css";

const CONTENT: Readonly<Record<string, ComponentType>> = {
  ai: AiSettings,
  permissions: PermissionSettings,
  limits: Limits,
  people: People,
  network: Network,
  gateway: GatewayStatus,
  notifications: NotificationSettings,
  appearance: Appearance,
  tokens: Tokens,
  account: Account,
};

export default function Settings({ rest, pane }: ScreenProps) {
  const [id, anchor] = rest;
  const pages = listPages();
  const renamed = id === undefined ? undefined : RENAMED_PAGES[id];
  const page = pages.find((one) => one.id === (renamed ?? id));
  const content = useRef<HTMLDivElement>(null);
  usePaneTitle(page === undefined ? null : `Settings: ${page.title}`);
  useActions(
    () =>
      pages.map(({ id, title, text }) => ({
        id: `settings.${id}`,
        title: `Settings: ${title}`,
        group: "Settings",
        words: text,
        run: () => go(joinPath("settings", id), { pane }),
      })),
    [pane, pages.length],
  );
  useEffect(() => {
    if (renamed !== undefined) go(joinPath("settings", renamed), { pane, replace: true });
  }, [renamed]);
  useScrollToSetting(content, page?.id, anchor);
  if (id !== undefined && page === undefined)
    return (
      <EmptyState icon="settings" title="There is no such page of settings" text="It may be mistyped, or not yours to see.">
        <Link to={joinPath("settings")}>All settings</Link>
      </EmptyState>
    );
  const Content = page === undefined ? null : CONTENT[page.id]!;
  return (
    <div class="settings-frame">
      <div class={page === undefined ? "settings settings-start" : "settings"}>
        <SettingsNav current={page?.id ?? null} />
        {Content !== null && page !== undefined && (
          <div class="settings-content" key={page.id} ref={content}>
            <div class="settings-back">
              <Link class="back" to={joinPath("settings")}>
                <Icon name="back" />
                All settings
              </Link>
            </div>
            <Content />
          </div>
        )}
      </div>
    </div>
  );
}

/** Waits for the setting: most of them appear once they are read from the gateway. */
function useScrollToSetting(content: { current: HTMLElement | null }, page: string | undefined, anchor: string | undefined): void {
  useEffect(() => {
    const box = content.current;
    if (box === null || anchor === undefined) return;
    const show = () => {
      const found = box.querySelector<HTMLElement>(`#setting-${CSS.escape(anchor)}`);
      if (found === null) return false;
      if (found instanceof HTMLDetailsElement) found.open = true;
      found.scrollIntoView({ block: "start" });
      found.classList.add("settings-shown");
      return true;
    };
    if (show()) return;
    const observer = new MutationObserver(() => {
      if (show()) observer.disconnect();
    });
    observer.observe(box, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, [page, anchor]);
}
