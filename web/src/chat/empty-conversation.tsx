// An empty conversation: suggestions that fit what is connected, which fill the message field, and links to what is missing.

import { makeVisible } from "../../../src/approval/visible.ts";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";
import { Link } from "../frame/link.tsx";
import type { Conversation } from "../state/conversation.ts";
import { mcpServers } from "../state/mcp-servers.ts";
import { mayCall } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Icon } from "../ui/icon.tsx";
import { suggestMessages } from "./suggestions.ts";
import "./empty-conversation.css";

type EmptyProps = { conversation: Conversation; onSuggestion: (text: string) => void };

export function EmptyConversation({ conversation, onSuggestion }: EmptyProps) {
  const devices = useLatest("sys.device.list", {}, ({ signal }) => signal === DEVICE_STATUS).value.value?.devices ?? null;
  const skills = useLatest("ai.skills", {}).value.value?.skills ?? [];
  const servers = (mcpServers.value.value?.servers ?? []).filter(({ state }) => state === "ready");
  const settings = conversation.settings.value.value;
  const isDemo = settings?.effective.provider === "demo";
  const [machine] = (devices ?? []).toSorted((one, other) => (other.lastSeenAt ?? 0) - (one.lastSeenAt ?? 0));
  const suggestions = suggestMessages({
    isDemo,
    machine: machine === undefined ? null : makeVisible(machine.deviceId),
    servers: servers.map(({ name }) => makeVisible(name)),
    skills: skills.filter(({ source }) => source.kind === "home").map(({ name }) => makeVisible(name)),
  });
  return (
    <div class="start">
      <h2>What would you like to do?</h2>
      {/* Suggestions that change under the pointer would be clicked by mistake. */}
      {devices !== null && settings !== null && (
        <ul class="start-list" aria-label="Suggestions">
          {suggestions.map((text) => (
            <li key={text}>
              <button type="button" class="start-one" onClick={() => onSuggestion(text)}>
                {text}
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class="start-links soft">
        {isDemo && (
          <Link to="/settings/ai">
            <Icon name="settings" /> Choose a model: the demo model is not an AI
          </Link>
        )}
        {devices?.length === 0 && mayCall("sys.token.create") && (
          <Link to="/machines/add">
            <Icon name="machine" /> Connect a machine
          </Link>
        )}
      </p>
    </div>
  );
}
