// The start page: links to the other screens, and the state of the gateway.

import { Link } from "../frame/link.tsx";
import { KeyCaps } from "../frame/key-caps.tsx";
import { mayCall, username } from "../state/session.ts";
import { useLatest } from "../state/use-latest.ts";
import { Badge } from "../ui/badge.tsx";
import { Icon, type IconName } from "../ui/icon.tsx";
import { Time } from "../ui/time.tsx";
import "./home.css";
import { DEVICE_STATUS } from "../../../src/protocol/signal-names.ts";

const LINKS: { to: string; icon: IconName; title: string; text: string; keys: string }[] = [
  { to: "/chat", icon: "chat", title: "Chat", text: "Ask an agent for something and watch it work.", keys: "g c" },
  { to: "/approvals", icon: "approval", title: "Approvals", text: "What agents may only do with your yes.", keys: "g a" },
  { to: "/machines", icon: "machine", title: "Machines", text: "Connect your computers and see which are online.", keys: "g m" },
  {
    to: "/integrations",
    icon: "integration",
    title: "Integrations",
    text: "Connect other services, and teach your agents skills.",
    keys: "g i",
  },
  { to: "/settings", icon: "settings", title: "Settings", text: "Models, people, tokens and limits.", keys: "g s" },
];

export default function Home() {
  return (
    <div class="home">
      <div>
        <h2 class="home-hello">Hello, {username.value}</h2>
        <GatewayStatus />
      </div>
      <ul class="home-places">
        {LINKS.map(({ to, icon, title, text, keys }) => (
          <li key={to}>
            <Link class="home-place" to={to}>
              <span class="home-icon">
                <Icon name={icon} />
              </span>
              <span class="home-words">
                <span class="home-title">{title}</span>
                <span class="soft">{text}</span>
              </span>
              <KeyCaps keys={keys} />
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function GatewayStatus() {
  const info = useLatest("sys.info", {}).value.value;
  return (
    <p class="home-facts soft">
      {info !== null && (
        <span>
          GSV {info.version}, started <Time at={info.startedAt} />
        </span>
      )}
      {mayCall("sys.device.list") && <OnlineMachines />}
    </p>
  );
}

function OnlineMachines() {
  const count = useLatest("sys.device.list", {}, ({ signal }) => signal === DEVICE_STATUS).value.value?.devices.length;
  if (count === undefined) return null;
  return (
    <Badge tone={count > 0 ? "good" : "plain"} dot={count > 0}>
      {count === 0 ? "No machine online" : count === 1 ? "1 machine online" : `${count} machines online`}
    </Badge>
  );
}
