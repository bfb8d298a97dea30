// Code in an answer: its language, a button that copies it, and a little colour.

import { useMemo, useState } from "preact/hooks";
import { IconButton } from "../ui/button.tsx";
import { highlight } from "./highlight.ts";

export function CodeBlock({ language, text }: { language: string; text: string }) {
  const [said, setSaid] = useState("");
  const tokens = useMemo(() => highlight(text, language), [text, language]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied");
    } catch {
      setSaid("This browser does not allow copying: select the text instead");
    }
    setTimeout(() => setSaid(""), 2_000);
  };
  return (
    <figure class="md-code">
      <figcaption class="md-code-head">
        <span>{language === "" ? "code" : language}</span>
        <span role="status" class="md-code-said">
          {said}
        </span>
        <IconButton icon={said === "Copied" ? "check" : "copy"} label="Copy the code" onClick={() => void copy()} />
      </figcaption>
      <pre class="md-code-text" tabIndex={0} role="group" aria-label={language === "" ? "Code" : `Code in ${language}`}>
        <code>
          {tokens.map(({ kind, text }, at) =>
            kind === "plain" ? (
              text
            ) : (
              <span key={at} class={`hl-${kind}`}>
                {text}
              </span>
            ),
          )}
        </code>
      </pre>
    </figure>
  );
}
