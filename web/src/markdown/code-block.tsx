// Code in an answer: its language, a copy button, and simple syntax highlighting.

import { useState } from "preact/hooks";
import { IconButton } from "../ui/button.tsx";
import { COPY_REFUSED, copyToClipboard } from "../ui/clipboard.ts";
import { Highlighted } from "./highlighted.tsx";

export function CodeBlock({ language, text }: { language: string; text: string }) {
  const [copyStatus, setCopyStatus] = useState("");
  const copy = async () => {
    setCopyStatus((await copyToClipboard(text)) ? "Copied" : COPY_REFUSED);
    setTimeout(() => setCopyStatus(""), 2_000);
  };
  return (
    <figure class="md-code">
      <figcaption class="md-code-head">
        <span>{language === "" ? "code" : language}</span>
        <span role="status" class="md-code-said">
          {copyStatus}
        </span>
        <IconButton icon={copyStatus === "Copied" ? "check" : "copy"} label="Copy the code" onClick={() => void copy()} />
      </figcaption>
      <pre class="md-code-text" tabIndex={0} role="group" aria-label={language === "" ? "Code" : `Code in ${language}`}>
        <Highlighted text={text} language={language} />
      </pre>
    </figure>
  );
}
