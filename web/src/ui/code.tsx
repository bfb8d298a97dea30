// Text with a copy button: a command, a token, a path.

import { useEffect, useState } from "preact/hooks";
import { IconButton } from "./button.tsx";
import "./code.css";

/** `label` names the text for the button: "Copy the command". */
export function Code({ text, label = "the command" }: { text: string; label?: string }) {
  const [copied, setCopied] = useState<"yes" | "no" | null>(null);
  useEffect(() => setCopied(null), [text]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied("yes");
    } catch {
      setCopied("no");
    }
    setTimeout(() => setCopied(null), 2_000);
  };
  return (
    <div class="code">
      <pre class="code-text" tabIndex={0} role="group" aria-label={label}>
        {text}
      </pre>
      <IconButton icon={copied === "yes" ? "check" : "copy"} label={`Copy ${label}`} onClick={() => void copy()} />
      <span class="unseen" role="status">
        {copied === "yes" ? "Copied" : copied === "no" ? "This browser does not allow copying: select the text instead" : ""}
      </span>
    </div>
  );
}
