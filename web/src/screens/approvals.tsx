// What agents may only do with a person's yes: what waits, what was allowed for longer, and what is over.

import { useEffect } from "preact/hooks";
import { Grants } from "../approvals/grants.tsx";
import { History } from "../approvals/history.tsx";
import { Questions } from "../approvals/questions.tsx";
import { go, pathOf } from "../frame/route.ts";
import { approvals } from "../state/approvals.ts";
import { Loaded } from "../ui/loaded.tsx";
import { Tabs } from "../ui/tabs.tsx";
import type { ScreenProps } from "./screens.ts";
import "../approvals/approvals.css";

const PARTS = ["waiting", "remembered", "history"] as const;
type Part = (typeof PARTS)[number];

export default function Approvals({ rest, pane }: ScreenProps) {
  const part: Part = PARTS.find((one) => one === rest[0]) ?? "waiting";
  useEffect(() => void approvals.refetch(), []);
  const pending = approvals.value.value?.pending.length ?? 0;
  const tabs = [
    { value: "waiting" as const, title: pending === 0 ? "Waiting" : `Waiting (${pending})` },
    { value: "remembered" as const, title: "Remembered" },
    { value: "history" as const, title: "History" },
  ];
  const show = (to: Part) => go(to === "waiting" ? pathOf("approvals") : pathOf("approvals", to), { pane });
  return (
    <div class="approvals">
      <Tabs label="Approvals" value={part} tabs={tabs} onValue={show}>
        {part === "history" ? (
          <History />
        ) : (
          <Loaded latest={approvals} label="Loading what waits for you">
            {({ pending, grants }) => (part === "waiting" ? <Questions pending={pending} /> : <Grants grants={grants} />)}
          </Loaded>
        )}
      </Tabs>
    </div>
  );
}
