// Settings: an overview, and each page at its own address.

import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useActions } from "../frame/actions.ts";
import { Link } from "../frame/link.tsx";
import { go, joinPath } from "../frame/route.ts";
import { usePaneTitle } from "../frame/titles.ts";
import { About } from "../settings/about.tsx";
import { Account } from "../settings/account.tsx";
import { AiSettings } from "../settings/ai-settings.tsx";
import { Budgets } from "../settings/budgets.tsx";
import { Appearance } from "../settings/appearance.tsx";
import { Network } from "../settings/network.tsx";
import { Policy } from "../settings/policy.tsx";
import { Tokens } from "../settings/tokens.tsx";
import { Users } from "../settings/users.tsx";
import { mayCall, session } from "../state/session.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import type { ScreenProps } from "./screens.ts";
import "../settings/settings.css";

type Page = { id: string; title: string; text: string; icon: IconName; needs: string | null; isForRoot?: true; Content: ComponentType };

const PAGES: readonly Page[] = [
  { id: "ai", title: "AI", text: "Which model answers, and where it is.", icon: "chat", needs: "sys.config.get", Content: AiSettings },
  {
    id: "policy",
    title: "Approval policy",
    text: "What agents may do by themselves, and what you are asked about.",
    icon: "approval",
    needs: "proc.approval.preview",
    Content: Policy,
  },
  {
    id: "budgets",
    title: "Budgets",
    text: "How much agents may use, and have used.",
    icon: "info",
    needs: "proc.spending",
    Content: Budgets,
  },
  {
    id: "tokens",
    title: "Tokens",
    text: "What lets browsers, machines and programs in.",
    icon: "keyboard",
    needs: "sys.token.list",
    Content: Tokens,
  },
  {
    id: "users",
    title: "Users",
    text: "The people of this gateway and their groups.",
    icon: "person",
    needs: "sys.user.list",
    Content: Users,
  },
  {
    id: "network",
    title: "Network",
    text: "Which hosts in your own network agents and integrations may reach.",
    icon: "machine",
    needs: "sys.config.set",
    isForRoot: true,
    Content: Network,
  },
  { id: "account", title: "Your account", text: "Your password.", icon: "person", needs: "sys.user.password", Content: Account },
  { id: "look", title: "Look", text: "Light or dark, roomy or tight.", icon: "sun", needs: null, Content: Appearance },
  {
    id: "about",
    title: "About and doctor",
    text: "Which version this is, and whether all is well.",
    icon: "check",
    needs: "sys.info",
    Content: About,
  },
];

export default function Settings({ rest, pane }: ScreenProps) {
  const isRoot = session.value?.identity.process.uid === 0;
  const pages = PAGES.filter(({ needs, isForRoot = false }) => (needs === null || mayCall(needs)) && (isRoot || !isForRoot));
  const page = pages.find(({ id }) => id === rest[0]) ?? null;
  usePaneTitle(page === null ? null : `Settings: ${page.title}`);
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
  const nav = useRef<HTMLElement>(null);
  // On a phone the links are a row that scrolls.
  useEffect(() => nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }), [page?.id]);
  if (page !== null)
    return (
      <div class="settings">
        <nav class="settings-pages" aria-label="Settings" ref={nav}>
          <ul>
            <li>
              <Link class="settings-page" to={joinPath("settings")}>
                All
              </Link>
            </li>
            {pages.map(({ id, title }) => (
              <li key={id}>
                <Link class="settings-page" to={joinPath("settings", id)} aria-current={id === page.id ? "page" : undefined}>
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <div class="settings-content" key={page.id}>
          <page.Content />
        </div>
      </div>
    );
  if (rest.length > 0)
    return (
      <EmptyState icon="settings" title="There is no such page of settings" text="It may be mistyped, or not yours to see.">
        <Link to={joinPath("settings")}>All settings</Link>
      </EmptyState>
    );
  return (
    <ul class="settings-places">
      {pages.map(({ id, title, text, icon }) => (
        <li key={id}>
          <Link class="settings-place" to={joinPath("settings", id)}>
            <span class="settings-icon">
              <Icon name={icon} />
            </span>
            <span class="entry-words">
              <strong>{title}</strong>
              <span class="soft">{text}</span>
            </span>
            <Icon name="right" />
          </Link>
        </li>
      ))}
    </ul>
  );
}
