// Which model answers in this conversation, and how long it thinks: a button in the composer with a list that can be searched.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { Link } from "../frame/link.tsx";
import { call, describeError, type Args, type Result } from "../state/call.ts";
import type { Conversation, ConversationSettings } from "../state/conversation.ts";
import { makeChangeFilter } from "../state/refetch-on.ts";
import { useLatest } from "../state/use-latest.ts";
import { Badge } from "../ui/badge.tsx";
import { Icon } from "../ui/icon.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Popover } from "../ui/popover.tsx";
import "./pickers.css";

export type ListedModel = Result<"ai.models">["models"][number];
export type ModelRef = Pick<ListedModel, "provider" | "model">;
type Thinking = ConversationSettings["effective"]["thinking"];
type Change = Omit<Args<"proc.settings.set">, "pid" | "conversationId">;

/** Fewer models need no search. */
const SEARCH_MIN = 8;
const LEVELS: readonly { value: Thinking; label: string }[] = [
  { value: "off", label: "Off" },
  { value: "low", label: "Low" },
  { value: "medium", label: "Medium" },
  { value: "high", label: "High" },
];
const isConfigChange = makeChangeFilter("config");

export function ModelPicker({ conversation }: { conversation: Conversation }) {
  const settings = conversation.settings.value.value;
  const [problem, setProblem] = useState<string | null>(null);
  if (settings === null) return null;
  const { provider, model } = settings.effective;
  const isDemo = provider === "demo";
  const change = async (to: Change) => {
    setProblem(null);
    try {
      await call("proc.settings.set", { pid: conversation.pid, conversationId: conversation.id, ...to });
      await conversation.settings.refetch();
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  const name = makeVisible(model === "" ? provider : model);
  return (
    <Popover label={`Model: ${name}`} face={isDemo ? <Badge tone="warn">demo</Badge> : <span class="chip-words">{name}</span>}>
      {(close) => (
        <div class="picker">
          {problem !== null && (
            <p class="picker-problem" role="alert">
              {problem}
            </p>
          )}
          <ModelChoice
            shown={{ provider, model }}
            isInherited={settings.settings.model === null}
            onChoose={(chosen) => {
              close();
              void change({ model: chosen === null ? null : { provider: chosen.provider, model: chosen.model } });
            }}
          />
          <ThinkingLevels level={settings.effective.thinking} onLevel={(thinking) => void change({ thinking })} />
          <p class="picker-foot">
            <Link to="/settings/ai">Manage models</Link>
          </p>
        </div>
      )}
    </Popover>
  );
}

type ChoiceProps = { shown: ModelRef; isInherited: boolean; onChoose: (model: ModelRef | null) => void };

/** Null stands for the default. */
function ModelChoice({ shown, isInherited, onChoose }: ChoiceProps) {
  const latest = useLatest("ai.models", {}, isConfigChange);
  return (
    <Loaded latest={latest} label="Loading the models">
      {({ models, problem }) => (
        <>
          <ModelList models={models} shown={isInherited ? null : shown} onChoose={(one) => onChoose(one.isDefault ? null : one)} />
          {problem !== null && <p class="soft small">{makeVisible(problem)}</p>}
        </>
      )}
    </Loaded>
  );
}

type ListProps = { models: readonly ListedModel[]; shown: ModelRef | null; onChoose: (model: ListedModel) => void };

/** Arrow keys move, Enter chooses. `shown` is null for the default. */
export function ModelList({ models, shown, onChoose }: ListProps) {
  const [typed, setTyped] = useState("");
  const isShown = (one: ListedModel) => (shown === null ? one.isDefault : one.provider === shown.provider && one.model === shown.model);
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const found = models.filter(({ title, model }) => words.every((word) => `${title} ${model}`.toLowerCase().includes(word)));
  const [at, setAt] = useState(() => Math.max(0, models.findIndex(isShown)));
  const active = Math.min(at, found.length - 1);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const hasSearch = models.length >= SEARCH_MIN;
  useEffect(() => (field.current ?? list.current)?.focus({ preventScroll: true }), []);
  useEffect(() => list.current?.querySelector("[data-active=true]")?.scrollIntoView({ block: "nearest" }), [active, typed]);
  const handleKeydown = (event: KeyboardEvent) => {
    const to = { ArrowDown: active + 1, ArrowUp: active - 1 + found.length, Home: 0, End: found.length - 1 }[event.key];
    if (event.key === "Enter" && found[active] !== undefined) onChoose(found[active]);
    else if (to !== undefined && found.length > 0 && (event.key.startsWith("Arrow") || !hasSearch)) setAt(to % found.length);
    else return;
    event.preventDefault();
  };
  const listProps = { "aria-activedescendant": active >= 0 ? `${id}-${active}` : undefined, onKeyDown: handleKeydown };
  return (
    <>
      {hasSearch && (
        <input
          {...listProps}
          ref={field}
          class="control"
          type="text"
          role="combobox"
          aria-label="Find a model"
          aria-expanded="true"
          aria-controls={id}
          autocomplete="off"
          spellcheck={false}
          placeholder="Find a model"
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setAt(0);
          }}
        />
      )}
      <ul class="picker-list" id={id} ref={list} role="listbox" aria-label="Models" {...(hasSearch ? {} : { ...listProps, tabIndex: 0 })}>
        {found.map((one, index) => (
          <li
            key={`${one.provider} ${one.model}`}
            id={`${id}-${index}`}
            class="picker-item"
            role="option"
            aria-selected={isShown(one) ? "true" : "false"}
            data-active={index === active}
            onPointerMove={() => setAt(index)}
            onClick={() => onChoose(one)}
          >
            <span class="picker-check">{isShown(one) && <Icon name="check" />}</span>
            <span class="picker-name">{makeVisible(one.model === "" ? one.title : one.model)}</span>
            <span class="picker-note">
              {makeVisible(one.title)}
              {one.isDefault && " · default"}
            </span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="soft small">No results</p>}
    </>
  );
}

function ThinkingLevels({ level, onLevel }: { level: Thinking; onLevel: (level: Thinking) => void }) {
  const name = useId();
  const levels = LEVELS.some(({ value }) => value === level) ? LEVELS : [...LEVELS, { value: level, label: LEVEL_NAMES[level] ?? level }];
  return (
    <fieldset class="levels">
      <legend>Thinking</legend>
      {levels.map(({ value, label }) => (
        <label key={value} class="level">
          <input type="radio" class="unseen" name={name} checked={value === level} onChange={() => onLevel(value)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Levels that are set elsewhere. */
const LEVEL_NAMES: Readonly<Partial<Record<Thinking, string>>> = { minimal: "Minimal", xhigh: "Highest" };
