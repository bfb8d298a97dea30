// Dialogs for actions on a conversation or its agent.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { agentName, findAgent, agents } from "../state/agents.ts";
import { call, describeError } from "../state/call.ts";
import type { Conversation, Segment } from "../state/conversation.ts";
import { showNotice } from "../state/notices.ts";
import { useOperation } from "../state/use-operation.ts";
import { useLatest } from "../state/use-latest.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Radio } from "../ui/choice.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { TextInput } from "../ui/field.tsx";
import { Time } from "../ui/time.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { openConversation } from "./conversation-links.ts";
import { conversationName } from "./conversation-names.ts";
import { parseText } from "./message-content.ts";
import { TextArea } from "../ui/text-area.tsx";

export type DialogName = "delete" | "versions" | "compact" | "policy" | "reset" | "kill";
const VERSIONS_PAGE = 10;
/** The answer may come after some calls. */
const VERSION_MESSAGES = 10;
type DialogProps = { conversation: Conversation; onClose: () => void };

export function ConversationDialog({ name, ...props }: DialogProps & { name: DialogName }) {
  switch (name) {
    case "compact":
      return <Compact {...props} />;
    case "policy":
      return <Policy {...props} />;
    case "reset":
      return <Reset {...props} />;
    case "delete":
      return <Delete {...props} />;
    case "versions":
      return <Versions {...props} />;
    case "kill":
      return <Kill {...props} />;
  }
}

type ActionDialogProps = {
  title: string;
  confirmLabel: string;
  isDanger?: boolean;
  isReady?: boolean;
  onClose: () => void;
  work: () => Promise<string | null>;
  children: ComponentChildren;
};

/** Runs `work`, shows the text it returns as a notice and closes. If it fails, the dialog stays open with the reason. */
function ActionDialog({ title, confirmLabel, isDanger = false, isReady = true, onClose, work, children }: ActionDialogProps) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const run = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const message = await work();
      if (message !== null) showNotice(message, "good");
      onClose();
    } catch (error) {
      setProblem(describeError(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isKept
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look={isDanger ? "danger" : "primary"} busy={isBusy} disabled={!isReady} onClick={() => void run()}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <div class="stack">
        {children}
        {problem !== null && <Banner tone="bad">{problem}</Banner>}
      </div>
    </Dialog>
  );
}

function toConversationIds({ pid, id }: Conversation): { pid: string; conversationId: string } {
  return { pid, conversationId: id };
}

function Compact({ conversation, onClose }: DialogProps) {
  const [keep, setKeep] = useState("20");
  const [by, setBy] = useState<"model" | "hand">("model");
  const [summary, setSummary] = useState("");
  const keepLast = Number(keep);
  const isNumber = keep.trim() !== "" && Number.isInteger(keepLast) && keepLast >= 0;
  const work = async () => {
    const how = by === "model" ? { generateSummary: true } : { summary: summary.trim() };
    const { archivedMessages } = await call("proc.conversation.compact", { ...toConversationIds(conversation), keepLast, ...how });
    return `${archivedMessages} messages were archived`;
  };
  return (
    <ActionDialog
      title="Compact older messages"
      confirmLabel="Compact"
      isReady={isNumber && (by === "model" || summary.trim() !== "")}
      onClose={onClose}
      work={work}
    >
      <p class="soft">Older messages are archived word for word, and a summary takes their place. You can open the archive at any time.</p>
      <TextInput
        label="Newest messages to keep"
        value={keep}
        onValue={setKeep}
        inputMode="numeric"
        error={isNumber ? null : "A whole number, such as 20."}
      />
      <Radio
        legend="Summary"
        value={by}
        onValue={setBy}
        options={[
          { value: "model", label: "Written by the model" },
          { value: "hand", label: "Written by you" },
        ]}
      />
      {by === "hand" && <TextArea label="Your summary" value={summary} onValue={setSummary} />}
    </ActionDialog>
  );
}

type OverflowPolicy = "manual" | "auto-compact" | "fail";

function Policy({ conversation, onClose }: DialogProps) {
  const policy = useLatest("proc.conversation.policy.get", toConversationIds(conversation));
  const [chosen, setChosen] = useState<OverflowPolicy | null>(null);
  const work = async () => {
    if (chosen !== null) await call("proc.conversation.policy.set", { ...toConversationIds(conversation), overflow: chosen });
    return null;
  };
  return (
    <ActionDialog title="When the context is full" confirmLabel="Save" isReady={chosen !== null} onClose={onClose} work={work}>
      <Loaded latest={policy} label="Reading what is set">
        {({ policy }) => (
          <Radio
            legend="When this conversation no longer fits the model"
            boxes
            value={chosen ?? policy.overflow}
            onValue={setChosen}
            options={[
              {
                value: "manual",
                label: "Leave it to me",
                hint: "Nothing is archived by itself; older messages are left out for the model.",
              },
              { value: "auto-compact", label: "Compact by itself", hint: "Older messages are archived and summed up." },
              { value: "fail", label: "Stop", hint: "The run ends and says why." },
            ]}
          />
        )}
      </Loaded>
    </ActionDialog>
  );
}

function Reset({ conversation, onClose }: DialogProps) {
  const work = async () => {
    const { archivedMessages } = await call("proc.conversation.reset", toConversationIds(conversation));
    return `The conversation is empty again. ${archivedMessages} messages were archived`;
  };
  return (
    <ActionDialog title="Reset the conversation?" confirmLabel="Reset" isDanger onClose={onClose} work={work}>
      <p>Whatever runs or waits in it ends. Its messages are archived, and it begins anew.</p>
    </ActionDialog>
  );
}

/** What was archived when a message was edited or an answer retried. */
function Versions({ conversation, onClose }: DialogProps) {
  const operation = useOperation();
  const [shown, setShown] = useState(VERSIONS_PAGE);
  const versions = (conversation.segments.value.value ?? []).filter(({ kind }) => kind === "rewind").toReversed();
  const open = (segmentId: string) =>
    operation.run(async () => {
      const title = `${conversationName(conversation.info.value.peek() ?? { id: conversation.id, title: null })} (earlier version)`;
      const { targetConversation } = await call("proc.conversation.fork", { ...toConversationIds(conversation), segmentId, title });
      onClose();
      openConversation(conversation.pid, targetConversation.id);
    });
  return (
    <Dialog title="Earlier versions" onClose={onClose}>
      <div class="stack">
        <p class="soft">When you edit a message or retry an answer, the conversation as it was is kept here.</p>
        {versions.length === 0 && <p>There are no earlier versions.</p>}
        <ul class="entries">
          {versions.slice(0, shown).map((segment) => (
            <li key={segment.id} class="entry">
              <VersionWords conversation={conversation} segment={segment} />
              <Button busy={operation.isBusy} onClick={() => void open(segment.id)}>
                Open as a new conversation
              </Button>
            </li>
          ))}
        </ul>
        {versions.length > shown && <Button onClick={() => setShown(shown + VERSIONS_PAGE)}>Show more</Button>}
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      </div>
    </Dialog>
  );
}

/** The message that was edited or answered again, how much followed it, and until when it was so. */
function VersionWords({ conversation, segment: { id: segmentId, createdAt } }: { conversation: Conversation; segment: Segment }) {
  const start = useLatest("proc.conversation.segment.read", { ...toConversationIds(conversation), segmentId, limit: VERSION_MESSAGES });
  return (
    <div class="entry-words">
      <Loaded latest={start} label="Reading what was said">
        {({ messages, messageCount }) => {
          const text = makeVisible(parseText(messages[0]?.content)).trim();
          const answer = messages.find(({ role, content }) => role === "assistant" && parseText(content).trim() !== "");
          const followers = messageCount - 1;
          return (
            <>
              <p class="version-text">{text === "" ? "A message without text" : text}</p>
              {answer !== undefined && <p class="version-text soft">{makeVisible(parseText(answer.content)).trim()}</p>}
              {followers > 0 && <p class="soft small">{`and ${followers} more ${followers === 1 ? "message" : "messages"}`}</p>}
            </>
          );
        }}
      </Loaded>
      <p class="soft small">
        Replaced <Time at={createdAt} />
      </p>
    </div>
  );
}

function Delete({ conversation, onClose }: DialogProps) {
  const work = async () => {
    await call("proc.conversation.delete", toConversationIds(conversation));
    openConversation(conversation.pid);
    return null;
  };
  return (
    <ActionDialog title="Delete the conversation?" confirmLabel="Delete" isDanger onClose={onClose} work={work}>
      <p>Whatever runs in it ends. Its messages and archives are deleted for good. To keep a copy, export it first.</p>
    </ActionDialog>
  );
}

function Kill({ conversation, onClose }: DialogProps) {
  const agent = findAgent(conversation.pid);
  const name = agent === null ? "the agent" : agentName(agent);
  const work = async () => {
    await call("proc.kill", { pid: conversation.pid });
    void agents.refetch();
    return `${name} was ended`;
  };
  return (
    <ActionDialog title={`End ${name}?`} confirmLabel="End it" isDanger onClose={onClose} work={work}>
      <p>Everything it does stops at once, and all its conversations are archived and emptied. It can be spoken to again.</p>
    </ActionDialog>
  );
}
