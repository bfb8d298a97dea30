// Whether settings apply to everyone on this gateway or only to the user's own agents. Root can choose; other users edit their own
// settings.

import { useState } from "preact/hooks";
import { session } from "../state/session.ts";
import { Segments } from "../ui/segments.tsx";
import { userPrefix, SYSTEM_PREFIX } from "./settings-layer.ts";

export type SettingsScope = { isSystem: boolean; prefix: string };

export function useSettingsScope(): [SettingsScope, (isSystem: boolean) => void] {
  const uid = session.value?.identity.process.uid ?? -1;
  const [isSystem, setSystem] = useState(uid === 0);
  return [{ isSystem, prefix: isSystem ? SYSTEM_PREFIX : userPrefix(uid) }, setSystem];
}

/** `text` says what applies to everyone. */
export function ScopeSwitch({ isSystem, onSystem, text }: { isSystem: boolean; onSystem: (isSystem: boolean) => void; text: string }) {
  if (session.value?.identity.process.uid !== 0) return null;
  return (
    <div class="scope-switch">
      <Segments
        legend="These settings are"
        value={isSystem ? "all" : "me"}
        options={[
          { value: "all", label: "For everyone on this gateway" },
          { value: "me", label: "Only for me" },
        ]}
        onValue={(value) => onSystem(value === "all")}
      />
      <p class="soft small">{isSystem ? text : "For the agents of root alone."}</p>
    </div>
  );
}
