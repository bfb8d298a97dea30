// The user's grants: a description, the call that was approved, the end, and a button to revoke it.

import { approvals, type Approvals } from "../state/approvals.ts";
import { call } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Time } from "../ui/time.tsx";

type Grant = Approvals["grants"][number];

export function Grants({ grants }: { grants: readonly Grant[] }) {
  if (grants.length === 0)
    return (
      <EmptyState
        icon="approval"
        title="Nothing is allowed beforehand"
        text="When you allow something for a day, it is listed here until it ends, and you can take it back."
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
      showNotice("Taken back: it will be asked about again", "good");
    });
  return (
    <li class="entry entry-tall">
      <div class="entry-words">
        <p>{grant.says}</p>
        <p class="soft small">What you were asked about then:</p>
        <pre class="entry-text" tabIndex={0} role="group" aria-label="What was approved" dir="ltr">
          {grant.shown.text}
        </pre>
        <p class="soft small">
          Allowed <Time at={grant.madeAt} />, ends <Time at={grant.expiresAt} />
        </p>
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      </div>
      <Button busy={operation.isBusy} aria-label={`Take back: ${grant.says}`} onClick={() => void revoke()}>
        Take back
      </Button>
    </li>
  );
}
