// Asks for the setup code, which a gateway requires if others can reach it, so that only the person who started it can set it up.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { CallError } from "../../../src/client/client.ts";
import { SingleCardPage } from "../frame/single-card-page.tsx";
import { describeError } from "../state/call.ts";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { openSetup } from "./setup-calls.ts";

/** `initialProblem`: an error from before the page was shown, such as a wrong code in the URL. */
export function SetupCodePage({ initialProblem }: { initialProblem: string | null }) {
  const [code, setCode] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState(initialProblem === null ? null : explainProblem(initialProblem));
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isBusy) return;
    if (code.trim() === "") return input.current?.focus();
    setBusy(true);
    try {
      await openSetup(code);
    } catch (error) {
      setProblem(error instanceof CallError ? explainProblem(describeError(error)) : describeError(error));
      setBusy(false);
      input.current?.focus();
      input.current?.select();
    }
  };
  return (
    <SingleCardPage title="Welcome to GSV" text="Other computers can reach this gateway, so only the person who started it can set it up.">
      <form class="stack" onSubmit={(event) => void submit(event)}>
        <TextInput
          label="Setup code"
          hint="Shown in the terminal where the gateway was started."
          error={problem}
          name="code"
          placeholder="XXXX-XXXX-XXXX"
          autocomplete="one-time-code"
          autocapitalize="none"
          value={code}
          onValue={(typed) => {
            setCode(typed.toUpperCase());
            setProblem(null);
          }}
          inputRef={input}
        />
        <Button type="submit" look="primary" wide busy={isBusy}>
          Continue
        </Button>
      </form>
    </SingleCardPage>
  );
}

function explainProblem(message: string): string {
  return message.startsWith("Setup code required") ? "Wrong code. It is in the terminal, in the line after the address." : message;
}
