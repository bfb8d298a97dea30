// What was allowed for longer than once, in words, with the call that was approved, until when, and the way to take it back.

import { approvals, type Approvals } from "../state/attention.ts";
import { call } from "../state/call.ts";
import { notice } from "../state/notices.ts";
import { useDoing } from "../state/use-doing.ts";
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
  const doing = useDoing();
  const revoke = () =>
    doing.run(async () => {
      await call("proc.approval.revoke", { grantId: grant.grantId });
      approvals.set((value) => ({ ...value, grants: value.grants.filter(({ grantId }) => grantId !== grant.grantId) }));
      notice("Taken back: it will be asked about again", "good");
    });
  return (
    <li class="entry entry-tall">
      <div class="entry-words">
        <p>{grant.says}</p>
        <pre class="entry-text" tabIndex={0} role="group" aria-label="What was approved" dir="ltr">
          {grant.shown.text}
        </pre>
        <p class="soft small">
          Allowed <Time at={grant.madeAt} />, ends <Time at={grant.expiresAt} />
        </p>
        {doing.problem !== null && <Banner tone="bad">{doing.problem}</Banner>}
      </div>
      <Button busy={doing.busy} aria-label={`Take back: ${grant.says}`} onClick={() => void revoke()}>
        Take back
      </Button>
    </li>
  );
}
