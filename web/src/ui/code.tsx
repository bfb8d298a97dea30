// Text with a copy button: a command, a token, a path.

import { useEffect, useState } from "preact/hooks";
import { IconButton } from "./button.tsx";
import { COPY_REFUSED, copyToClipboard } from "./clipboard.ts";
import "./code.css";

const SHOWN_MS = 3_000;

/** `label` names the text for the button: "Copy the command". */
export function Code({ text, label = "the command" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState<"yes" | "no" | null>(null);
  useEffect(() => setCopied(null), [text]);
  const copy = async () => {
    setCopied((await copyToClipboard(text)) ? "yes" : "no");
    setTimeout(() => setCopied(null), SHOWN_MS);
  };
  return (
    <div class="code">
      <pre class="code-text" tabIndex={0} role="group" aria-label={label}>
        {text}
      </pre>
      <IconButton icon={copied === "yes" ? "check" : "copy"} label={`Copy ${label}`} onClick={() => void copy()} />
      <span class={copied === "no" ? "code-refusal" : "unseen"} role="status">
        {copied === "yes" ? "Copied" : copied === "no" ? COPY_REFUSED : ""}
      </span>
    </div>
  );
}
