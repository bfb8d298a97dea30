// What only some want to know of a question: the rule, what is known of the call, and all arguments as they are.

import { isTag, TAGS } from "../../../src/approval/request.ts";
import { formatRequest } from "../../../src/approval/show.ts";
import { makeVisible } from "../../../src/approval/visible.ts";
import type { PendingQuestion } from "../state/approvals.ts";

export function QuestionDetails({ question }: { question: PendingQuestion }) {
  const { syscall, args, target, cwd, tags, why } = question;
  return (
    <details class="question-details">
      <summary>Details</summary>
      <dl class="question-facts">
        <dt>Rule</dt>
        <dd>{makeVisible(why)}</dd>
        {tags.length > 0 && (
          <>
            <dt>Known of it</dt>
            <dd>
              <ul>
                {tags.map((tag) => (
                  <li key={tag}>{isTag(tag) ? TAGS[tag] : makeVisible(tag)}</li>
                ))}
              </ul>
            </dd>
          </>
        )}
      </dl>
      <pre class="question-raw" tabIndex={0} role="group" aria-label="The whole call" dir="ltr">
        {formatRequest({ call: syscall, args, target, cwd }, true).text}
      </pre>
    </details>
  );
}
