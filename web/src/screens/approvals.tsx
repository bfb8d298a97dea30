// Approvals: what waits for an answer, what is allowed without asking, and the history of questions.

import { useEffect } from "preact/hooks";
import { Grants } from "../approvals/grants.tsx";
import { QuestionHistory } from "../approvals/question-history.tsx";
import { PendingQuestions } from "../approvals/pending-questions.tsx";
import { go, joinPath } from "../frame/route.ts";
import { useAgentUpdates } from "../state/agents.ts";
import { approvals } from "../state/approvals.ts";
import { Loaded } from "../ui/loaded.tsx";
import { Tabs } from "../ui/tabs.tsx";
import type { ScreenProps } from "./screens.ts";
import "../approvals/approvals.css";

const PARTS = ["waiting", "allowed", "history"] as const;
type Part = (typeof PARTS)[number];

export default function Approvals({ rest, pane }: ScreenProps) {
  const part: Part = PARTS.find((one) => one === rest[0]) ?? "waiting";
  useEffect(() => void approvals.refetch(), []);
  useAgentUpdates();
  const pending = approvals.value.value?.pending.length ?? 0;
  const tabs = [
    { value: "waiting" as const, title: pending === 0 ? "Waiting" : `Waiting (${pending})` },
    { value: "allowed" as const, title: "Allowed" },
    { value: "history" as const, title: "History" },
  ];
  const show = (to: Part) => go(to === "waiting" ? joinPath("approvals") : joinPath("approvals", to), { pane });
  return (
    <div class="approvals">
      <Tabs label="Approvals" value={part} tabs={tabs} onValue={show}>
        {part === "history" ? (
          <QuestionHistory />
        ) : (
          <Loaded latest={approvals} label="Loading">
            {({ pending, grants }) => (part === "waiting" ? <PendingQuestions pending={pending} /> : <Grants grants={grants} />)}
          </Loaded>
        )}
      </Tabs>
    </div>
  );
}
