// Tabs of a screen. Arrow keys move between tabs.

import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import "./tabs.css";

type TabsProps<V extends string> = {
  label: string;
  value: V;
  tabs: readonly { value: V; title: string }[];
  onValue: (value: V) => void;
  children: ComponentChildren;
};

export function Tabs<V extends string>({ label, value, tabs, onValue, children }: TabsProps<V>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const handleKeydown = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.value === value);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[to % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onValue(next.value);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.value}"]`)?.focus();
  };
  return (
    <div class="tabs">
      <div class="tabs-list" role="tablist" aria-label={label} ref={list} onKeyDown={handleKeydown} tabIndex={-1}>
        {tabs.map((tab) => (
          <button
            type="button"
            role="tab"
            key={tab.value}
            id={`${id}-${tab.value}`}
            data-tab={tab.value}
            class="tab"
            aria-selected={tab.value === value ? "true" : "false"}
            aria-controls={`${id}-panel`}
            tabIndex={tab.value === value ? 0 : -1}
            onClick={() => onValue(tab.value)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${value}`} class="stack">
        {children}
      </div>
    </div>
  );
}
