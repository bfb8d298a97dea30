// Denies with a reason, which the agent gets. Without one, the card denies at one press.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import type { FreshPress } from "./fresh-press.ts";
import { leaveOnEscape } from "./leave-on-escape.ts";
import type { QuestionAnswer } from "./question.tsx";

type DenyProps = { freshPress: FreshPress; isBusy: boolean; onCancel: () => void; onDeny: (answer: QuestionAnswer) => void };

export function DenyForm({ freshPress, isBusy, onCancel, onDeny }: DenyProps) {
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const deny = () => onDeny({ decision: "deny", ...(reason.trim() === "" ? {} : { reason: reason.trim() }) });
  return (
    <form
      class="question-form"
      onKeyDown={(event) => leaveOnEscape(event, onCancel)}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) deny();
      }}
    >
      <TextInput
        label="Reason"
        hint="Optional. The agent sees this and can try another way."
        value={reason}
        onValue={setReason}
        maxLength={1000}
        inputRef={field}
      />
      <div class="question-answers">
        <Button look="danger" busy={isBusy} onClick={freshPress.guard(deny)}>
          Deny
        </Button>
        <Button look="quiet" disabled={isBusy} onClick={onCancel}>
          Back
        </Button>
      </div>
    </form>
  );
}
