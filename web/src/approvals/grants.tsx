// What agents may do without asking: who may do what until when, the call that was approved, and a button to revoke it.

import { approvals, type Approvals } from "../state/approvals.ts";
import { call } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Time } from "../ui/time.tsx";
import { formatUntil } from "../ui/format-time.ts";

type Grant = Approvals["grants"][number];

export function Grants({ grants }: { grants: readonly Grant[] }) {
  if (grants.length === 0)
    return (
      <EmptyState
        icon="approval"
        title="Nothing is allowed in advance"
        text="Choose “Always allow…” when an agent asks. What you allow is listed here until it ends, and you can revoke it at any time."
      />
    );
  return (
    <ul class="entries">
      {grants.map((grant) => (
        <Entry key={grant.grantId} grant={grant} />
      ))}
    </ul>
  );
}

function Entry({ grant }: { grant: Grant }) {
  const operation = useOperation();
  const revoke = () =>
    operation.run(async () => {
      await call("proc.approval.revoke", { grantId: grant.grantId });
      approvals.update((value) => ({ ...value, grants: value.grants.filter(({ grantId }) => grantId !== grant.grantId) }));
      showNotice("Revoked. You will be asked again.", "good");
    });
  return (
    <li class="entry entry-tall">
      <div class="entry-words">
        <p class="grant-says">
          <Says text={grant.says} /> until {formatUntil(grant.expiresAt)}
        </p>
        <p class="soft small">
          Allowed <Time at={grant.madeAt} />, ends <Time at={grant.expiresAt} />
        </p>
        <details>
          <summary class="small">What you approved</summary>
          <pre class="entry-text" tabIndex={0} role="group" aria-label="What you approved" dir="ltr">
            {grant.shown.text}
          </pre>
        </details>
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      </div>
      <Button busy={operation.isBusy} aria-label={`Revoke: ${grant.says}`} onClick={() => void revoke()}>
        Revoke
      </Button>
    </li>
  );
}

/** A command in backquotes is code. */
function Says({ text }: { text: string }) {
  const [before, command, after] = text.split("`");
  if (command === undefined || after === undefined) return <>{text}</>;
  return (
    <>
      {before}
      <code>{command}</code>
      {after}
    </>
  );
}
