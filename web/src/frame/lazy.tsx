// A component whose code is loaded when it is first shown. If loading fails, the gateway is unreachable or was updated since the
// page was opened; a reload helps in both cases.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { connectionCount } from "../state/session.ts";
import { Banner } from "../ui/banner.tsx";
import { Button } from "../ui/button.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

type Load<P> = () => Promise<{ default: ComponentType<P> }>;

const loadedComponents = new Map<unknown, unknown>();

export function Lazy<P extends object>({ load, props }: { load: Load<P>; props: P }) {
  const [, refresh] = useState(0);
  const [failedLoad, setFailed] = useState<Load<P> | null>(null);
  const connections = connectionCount.value;
  useEffect(() => {
    let isMounted = true;
    if (loadedComponents.has(load)) return;
    load().then(
      (module) => {
        loadedComponents.set(load, module.default);
        if (isMounted) refresh((count) => count + 1);
      },
      () => {
        if (isMounted) setFailed(() => load);
      },
    );
    return () => {
      isMounted = false;
    };
    // Try again after a reconnect.
  }, [load, connections]);
  const Loaded = loadedComponents.get(load) as ComponentType<P> | undefined;
  if (Loaded !== undefined) return <Loaded {...props} />;
  if (failedLoad === load)
    return (
      <Banner tone="warn" actions={<Button onClick={() => location.reload()}>Reload</Button>}>
        This part could not be loaded. The gateway may be away, or newer than this page.
      </Banner>
    );
  return <Skeleton label="Loading" />;
}
