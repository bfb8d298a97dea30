// Whether settings apply to all users or only to the own agents. Root can choose; other users edit their own settings.

import { useState } from "preact/hooks";
import { session } from "../state/session.ts";
import { Radio } from "../ui/choice.tsx";
import { userPrefix, SYSTEM_PREFIX } from "./settings-layer.ts";

export type SettingsScope = { isSystem: boolean; prefix: string };

export function useSettingsScope(): [SettingsScope, (isSystem: boolean) => void] {
  const uid = session.value?.identity.process.uid ?? -1;
  const [isSystem, setSystem] = useState(uid === 0);
  return [{ isSystem, prefix: isSystem ? SYSTEM_PREFIX : userPrefix(uid) }, setSystem];
}

export function ScopeSwitch({ isSystem, onSystem }: { isSystem: boolean; onSystem: (isSystem: boolean) => void }) {
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
