// How full the model's context is, as a small ring. A click shows the parts of the context and the cost of the agent.

import { useState } from "preact/hooks";
import type { Conversation } from "../state/conversation.ts";
import { useLatest } from "../state/use-latest.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Progress } from "../ui/progress.tsx";
import { Table } from "../ui/table.tsx";
import { formatCost, formatTokens } from "./format-usage.ts";
import { formatDuration } from "../ui/format-duration.ts";
import "./context-meter.css";

export function ContextMeter({ conversation }: { conversation: Conversation }) {
  const [isOpen, setOpen] = useState(false);
  const context = conversation.context.value;
  const pressure = context?.pressure ?? null;
  const percent = pressure === null ? null : Math.min(100, Math.round(pressure * 100));
  const words = percent === null ? "Context and cost" : `Context ${percent} % full. Show context and cost`;
  return (
    <>
      <button
        type="button"
        class="meter"
        data-level={context?.level ?? "unknown"}
        aria-label={words}
        title={words}
        onClick={() => setOpen(true)}
      >
        <svg class="meter-ring" viewBox="0 0 20 20" aria-hidden="true">
          <circle class="meter-track" cx="10" cy="10" r="7.5" />
          <circle class="meter-value" cx="10" cy="10" r="7.5" pathLength={100} stroke-dasharray={`${percent ?? 0} 100`} />
        </svg>
        {percent !== null && <span class="meter-words">{`${percent} %`}</span>}
      </button>
      {isOpen && <ContextDialog conversation={conversation} onClose={() => setOpen(false)} />}
    </>
  );
}

function ContextDialog({ conversation, onClose }: { conversation: Conversation; onClose: () => void }) {
  const { pid, id: conversationId } = conversation;
  const context = useLatest("proc.context", { pid, conversationId });
  const usage = useLatest("proc.usage", { pid });
  return (
    <Dialog title="Context and cost" onClose={onClose}>
      <div class="stack">
        <Loaded latest={context} label="Looking at the context">
          {({ provider, model, parts, tools, toolTokens, context, contextWindowTokens }) => (
            <>
              <p class="soft">{`${provider}/${model}${contextWindowTokens === null ? "" : `, takes ${formatTokens(contextWindowTokens)}`}`}</p>
              {context !== null && context.pressure !== null && (
                <Progress
                  label="Conversation"
                  value={Math.min(1, context.pressure)}
                  words={`${formatTokens(context.inputTokens)}${context.source === "estimate" ? ", estimated" : ""}`}
                />
              )}
              <Table
                caption="What every run begins with"
                rows={[...parts, { name: `${tools.length} tools`, bytes: 0, estimatedTokens: toolTokens, cut: 0 }]}
                rowKey={({ name }) => name}
                columns={[
                  { title: "Part", cell: ({ name, cut }) => (cut > 0 ? `${name} (shortened)` : name) },
                  { title: "Size", number: true, cell: ({ estimatedTokens }) => formatTokens(estimatedTokens) },
                ]}
              />
            </>
          )}
        </Loaded>
        <Loaded latest={usage} label="Adding up the cost">
          {({ spent }) => (
            <dl class="meter-facts">
              <dt>Cost of this agent so far</dt>
              <dd>{`${formatCost(spent.usage.cost.total)}${spent.usage.isEstimate === true ? ", estimated" : ""}`}</dd>
              <dt>Tokens</dt>
              <dd>{`${formatTokens(spent.usage.input + spent.usage.cacheRead)} in, ${formatTokens(spent.usage.output)} out`}</dd>
              <dt>Work</dt>
              <dd>{`${spent.modelCalls} model calls, ${spent.toolCalls} tool calls, ${formatDuration(spent.wallMs)}`}</dd>
            </dl>
          )}
        </Loaded>
      </div>
    </Dialog>
  );
}
