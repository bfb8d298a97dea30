// The code that a gateway asks for where others can reach it, so that it is set up by whoever started it.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { CallError } from "../../../src/client/client.ts";
import { SingleCardPage } from "../frame/single-card-page.tsx";
import { describeError } from "../state/call.ts";
import { Button } from "../ui/button.tsx";
import { TextInput } from "../ui/field.tsx";
import { knock } from "./gateway.ts";

/** `first`: what is wrong already, before anything was typed here. */
export function Door({ first }: { first: string | null }) {
  const [code, setCode] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(first === null ? null : wordsFor(first));
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    if (code.trim() === "") return input.current?.focus();
    setBusy(true);
    try {
      await knock(code);
    } catch (error) {
      setProblem(error instanceof CallError ? wordsFor(describeError(error)) : describeError(error));
      setBusy(false);
      input.current?.focus();
      input.current?.select();
    }
  };
  return (
    <SingleCardPage title="Welcome to GSV" text="Others can reach this gateway, so it is set up by whoever started it.">
      <form class="stack" onSubmit={(event) => void submit(event)}>
        <TextInput
          label="Setup code"
          hint="The gateway printed it on its console when it started."
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
        <Button type="submit" look="primary" wide busy={busy}>
          Continue
        </Button>
      </form>
    </SingleCardPage>
  );
}

function wordsFor(said: string): string {
  return said.startsWith("Setup code required") ? "That is not the code. It is on the console, in the line after the address." : said;
}
