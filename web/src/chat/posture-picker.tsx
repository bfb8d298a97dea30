// How often the agent asks before it acts in this conversation: a button in the composer. Trusted is confirmed in words, and ends by
// itself.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { call, describeError } from "../state/call.ts";
import type { Conversation, ConversationSettings } from "../state/conversation.ts";
import { Button } from "../ui/button.tsx";
import { Icon } from "../ui/icon.tsx";
import { Popover } from "../ui/popover.tsx";
import { formatUntil } from "../ui/format-time.ts";
import "./pickers.css";

type Posture = ConversationSettings["effective"]["posture"];

const POSTURES: readonly { value: Posture; title: string; text: string }[] = [
  { value: "ask", title: "Ask", text: "Asks before every action. Only reading needs no OK." },
  { value: "careful", title: "Careful", text: "Asks before anything that your policy says needs your OK." },
  { value: "trusted", title: "Trusted", text: "Asks only before what could do harm, for 24 hours." },
];

export function PosturePicker({ conversation }: { conversation: Conversation }) {
  const settings = conversation.settings.value.value;
  const [isConfirming, setConfirming] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const name = useId();
  if (settings === null) return null;
  const { posture, postureEndsAt, postureFrom } = settings.effective;
  const title = POSTURES.find(({ value }) => value === posture)!.title;
  const ends = posture === "trusted" && postureEndsAt !== null ? ` until ${formatUntil(postureEndsAt)}` : "";
  const choose = async (to: Posture, close: () => void) => {
    setProblem(null);
    try {
      await call("proc.settings.set", { pid: conversation.pid, conversationId: conversation.id, posture: to });
      await conversation.settings.refetch();
      setConfirming(false);
      close();
    } catch (error) {
      setProblem(describeError(error));
    }
  };
  return (
    <Popover
      label={`Permissions: ${title}${ends}`}
      tone={posture === "trusted" ? "danger" : "plain"}
      face={
        <>
          <Icon name="approval" />
          <span class="chip-words">
            {title}
            <span class="chip-end">{ends}</span>
          </span>
        </>
      }
    >
      {(close) => (
        <div class="picker">
          {problem !== null && (
            <p class="picker-problem" role="alert">
              {problem}
            </p>
          )}
          {isConfirming ? (
            <TrustQuestion onTrust={() => void choose("trusted", close)} onCancel={() => setConfirming(false)} />
          ) : (
            <fieldset class="postures">
              <legend>When the agent asks you</legend>
              {POSTURES.map(({ value, title, text }) => (
                <label key={value} class="posture" data-danger={value === "trusted"}>
                  <input
                    type="radio"
                    name={name}
                    checked={value === posture}
                    onClick={() => {
                      if (value === "trusted" && posture !== "trusted") setConfirming(true);
                    }}
                    onChange={() => {
                      if (value !== "trusted") void choose(value, close);
                    }}
                  />
                  <span>
                    <strong>{title}</strong>
                    <span class="soft small">{text}</span>
                  </span>
                </label>
              ))}
              {postureFrom === "parent" && (
                <p class="soft small">The conversation that started this agent asks before every action, so this one does too.</p>
              )}
            </fieldset>
          )}
        </div>
      )}
    </Popover>
  );
}

function TrustQuestion({ onTrust, onCancel }: { onTrust: () => void; onCancel: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  // Not a button: the key that opened this must not confirm it.
  useLayoutEffect(() => box.current?.focus(), []);
  return (
    <div class="picker" ref={box} tabIndex={-1} role="group" aria-label="Trust the agent?">
      <p>
        <strong>Trust the agent in this conversation for 24 hours?</strong>
      </p>
      <p class="soft small">
        It then runs plain commands and changes files on your machines and the gateway without asking you. It still asks before it deletes,
        uses the network, may read secrets or changes what controls agents and machines, and never does what your policy denies.
      </p>
      <div class="row">
        <Button look="danger" onClick={onTrust}>
          Trust for 24 hours
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </div>
  );
}
