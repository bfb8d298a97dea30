// A part of the desktop that is loaded when it is first shown. Where it cannot be loaded, the gateway is away or was
// updated since the page was opened: either way a reload brings what fits.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { connectionCount } from "../state/session.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

type Load<P> = () => Promise<{ default: ComponentType<P> }>;

const loaded = new Map<unknown, unknown>();

export function Lazy<P extends object>({ load, props }: { load: Load<P>; props: P }) {
  const [, refresh] = useState(0);
  const [failed, setFailed] = useState<Load<P> | null>(null);
  const line = connectionCount.value;
  useEffect(() => {
    let isHere = true;
    if (loaded.has(load)) return;
    load().then(
      (module) => {
        loaded.set(load, module.default);
        if (isHere) refresh((count) => count + 1);
      },
      () => {
        if (isHere) setFailed(() => load);
      },
    );
    return () => {
      isHere = false;
    };
    // A gateway that was away may be back.
  }, [load, line]);
  const Loaded = loaded.get(load) as ComponentType<P> | undefined;
  if (Loaded !== undefined) return <Loaded {...props} />;
  if (failed === load)
    return (
      <Banner tone="warn" actions={<Button onClick={() => location.reload()}>Reload</Button>}>
        This part could not be loaded. The gateway may be away, or newer than this page.
      </Banner>
    );
  return <Skeleton label="Loading" />;
}
