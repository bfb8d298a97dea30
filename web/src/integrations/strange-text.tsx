// Text and schemas that a server has sent: shown as they are, never as markup, with everything in them visible.

import { makeCodeVisible } from "../../../src/approval/visible-code.ts";
import "../ui/text-diff.css";

export type Schema = Record<string, unknown>;

/** One line for each member, in the order in which the gateway stores it. */
export function formatSchema(schema: Schema): string {
  return makeCodeVisible(JSON.stringify(schema, null, 2));
}

export function CodeText({ title, text }: { title: string; text: string }) {
  return (
    <div class="code-text-box">
      <p class="soft small" aria-hidden="true">
        {title}
      </p>
      <pre class="entry-text strange-text" tabIndex={0} role="group" aria-label={title} dir="ltr">
        {text}
      </pre>
    </div>
  );
}
