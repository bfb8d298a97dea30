// The form that writes a new skill into the user's home.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Link } from "../frame/link.tsx";
import { go, joinPath, type PaneName } from "../frame/route.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { TextInput } from "../ui/field.tsx";
import { Icon } from "../ui/icon.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { createSkill } from "./skill-files.ts";

/** As the gateway cuts them. */
const DESCRIPTION_CHARS_MAX = 220;

export function NewSkill({ pane }: { pane: PaneName }) {
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [text, setText] = useState("");
  const [isSubmitted, setSubmitted] = useState(false);
  const operation = useOperation();
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const problems = {
    name: /^[\p{L}\p{N}][\p{L}\p{N} ._-]*$/u.test(name.trim()) ? null : "Letters, digits, dashes and spaces, such as water-plants.",
    description: description.trim() === "" ? "Agents choose by these words." : null,
    text: text.trim() === "" ? "What is to be done, step by step." : null,
  };
  const isValid = Object.values(problems).every((problem) => problem === null);
  const write = () =>
    operation.run(async () => {
      await createSkill(name, `---\nname: ${toName(name)}\ndescription: ${description.trim()}\n---\n\n${text.trim()}\n`);
      go(joinPath("integrations", "skills"), { pane, replace: true });
    });
  const shown = (problem: string | null) => (isSubmitted ? problem : null);
  return (
    <>
      <Link class="back" to={joinPath("integrations", "skills")}>
        <Icon name="back" />
        All skills
      </Link>
      <Card
        title="Teach your agents something"
        text="Whatever you would tell somebody who does it for the first time. Agents read it when it fits what they are asked to do; it starts nothing by itself."
      >
        <form
          class="stack skill-editor"
          onSubmit={(event) => {
            event.preventDefault();
            setSubmitted(true);
            if (isValid) void write();
          }}
        >
          <TextInput
            label="Name"
            hint="Such as water-plants."
            error={shown(problems.name)}
            value={name}
            onValue={setName}
            maxLength={80}
            autocomplete="off"
            autocapitalize="none"
            inputRef={field}
          />
          <TextInput
            label="When to use it"
            hint="In a line, such as: Water the plants in the office - which ones, how much, and whom to tell."
            error={shown(problems.description)}
            value={description}
            onValue={setDescription}
            maxLength={DESCRIPTION_CHARS_MAX}
            autocomplete="off"
          />
          <TextArea
            label="What to do"
            hint="Plain text or Markdown: steps, commands, places, what to avoid. No passwords: agents and the history of your files keep it."
            error={shown(problems.text)}
            value={text}
            onValue={setText}
          />
          {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
          <div class="row">
            <Button type="submit" look="primary" busy={operation.isBusy}>
              Save the skill
            </Button>
          </div>
        </form>
      </Card>
    </>
  );
}

/** As the gateway makes it. */
function toName(text: string): string {
  return text.trim().toLowerCase().replaceAll(" ", "-");
}
