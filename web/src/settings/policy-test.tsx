// Tests one call against the current or the edited policy, without running it.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { isTag, TAGS } from "../../../src/approval/request.ts";
import { call, type Result } from "../state/call.ts";
import { useOperation } from "../state/use-operation.ts";
import { Badge } from "../ui/badge.tsx";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { TextInput } from "../ui/field.tsx";
import { TextArea } from "../ui/text-area.tsx";
import { ACTION_TONES, ACTION_WORDS } from "./policy-samples.ts";

/** `policy`: null for the current one. */
export function PolicyTest({ profile, policy }: { profile: string; policy: string | null }) {
  const [name, setName] = useState("shell.exec");
  const [args, setArgs] = useState('{ "input": "rm -r ~/old", "target": "gsv" }');
  const [preview, setPreview] = useState<Result<"proc.approval.preview"> | null>(null);
  const operation = useOperation();
  const parsed = parseObject(args);
  const runPreview = () =>
    operation.run(async () => {
      setPreview(null);
      const override = policy === null ? {} : { policy };
      setPreview(await call("proc.approval.preview", { profile, call: name.trim(), args: parsed ?? {}, ...override }));
    });
  return (
    <Card
      title="Try a call"
      text={policy === null ? "Against the policy that counts. Nothing is done." : "Against the policy above. Nothing is done."}
    >
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (parsed !== null && name.trim() !== "") void runPreview();
        }}
      >
        <TextInput label="Call" value={name} onValue={setName} autocapitalize="none" />
        <TextArea label="Arguments, in JSON" error={parsed === null ? "Not an object in JSON." : null} value={args} onValue={setArgs} />
        <div class="row">
          <Button type="submit" busy={operation.isBusy} disabled={parsed === null || name.trim() === ""}>
            Try it
          </Button>
        </div>
      </form>
      {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      {preview !== null && (
        <div class="stack" role="status">
          <p class="row">
            <Badge tone={ACTION_TONES[preview.action]}>It {ACTION_WORDS[preview.action]}</Badge>
            <span>{makeVisible(preview.why)}</span>
          </p>
          {preview.tags.length > 0 && (
            <p class="soft">Because {preview.tags.map((tag) => (isTag(tag) ? TAGS[tag] : makeVisible(tag))).join("; ")}.</p>
          )}
        </div>
      )}
    </Card>
  );
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
