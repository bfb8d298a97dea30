// Where one comes to: what can be done here.

import { Link } from "../frame/link.tsx";
import { username } from "../state/session.ts";
import { EmptyState } from "../ui/empty-state.tsx";

export default function Home() {
  return (
    <EmptyState
      icon="home"
      title={`Hello, ${username.value}`}
      text="Agents you talk to, what they ask of you, and your machines: all from here."
    >
      <Link class="button button-primary" to="/chat">
        Start a conversation
      </Link>
    </EmptyState>
  );
}
