// Whether settings are meant for everybody or for oneself: root chooses, others have their own.

import { useState } from "preact/hooks";
import { session } from "../state/session.ts";
import { Radio } from "../ui/choice.tsx";
import { ownPrefix, SYSTEM } from "./layer.ts";

export type Whose = { isSystem: boolean; prefix: string; own: string };

export function useWhose(): [Whose, (isSystem: boolean) => void] {
  const uid = session.value?.identity.process.uid ?? -1;
  const [isSystem, setSystem] = useState(uid === 0);
  const own = ownPrefix(uid);
  return [{ isSystem, prefix: isSystem ? SYSTEM : own, own }, setSystem];
}

export function WhoseChoice({ isSystem, onSystem }: { isSystem: boolean; onSystem: (isSystem: boolean) => void }) {
  if (session.value?.identity.process.uid !== 0) return null;
  return (
    <Radio
      legend="For whom"
      value={isSystem ? "all" : "me"}
      options={[
        { value: "all", label: "Everybody", hint: "Used where a user has set nothing of their own." },
        { value: "me", label: "Only root's own agents" },
      ]}
      onValue={(value) => onSystem(value === "all")}
    />
  );
}
