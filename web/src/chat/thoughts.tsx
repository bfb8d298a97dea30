// What a model thought before it answered or called a tool, folded.

import { useState } from "preact/hooks";
import { Icon } from "../ui/icon.tsx";

export function Thoughts({ thoughts, isStreaming = false }: { thoughts: readonly string[]; isStreaming?: boolean }) {
  const [isOpen, setOpen] = useState(false);
  if (thoughts.length === 0) return null;
  return (
    <div class="thoughts">
      <button type="button" class="thoughts-head" aria-expanded={isOpen ? "true" : "false"} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? "down" : "right"} />
        {isStreaming ? "Thinking" : "Reasoning"}
      </button>
      {isOpen && <div class="thoughts-text">{thoughts.join("\n\n")}</div>}
    </div>
  );
}
