// A link inside the desktop: a real link, so that the browser can open it in a new tab, but followed without a page load. It opens
// in its own pane; Alt+click opens it in the other.

import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { PaneContext } from "./pane-context.ts";
import { address, go, type PaneName, type Path, formatAddress } from "./route.ts";

type LinkProps = {
  to: Path;
  pane?: PaneName;
  class?: string;
  title?: string;
  "aria-current"?: "page" | undefined;
  "aria-label"?: string;
  children: ComponentChildren;
};

export function Link({ to, pane, children, ...rest }: LinkProps) {
  const ownPane = useContext(PaneContext);
  const target = pane ?? ownPane;
  const current = address.value;
  const href = formatAddress(target === "main" || target === null ? { ...current, main: to } : { ...current, beside: to });
  const handleClick = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    if (event.altKey) go(to, { pane: target === "beside" ? "main" : "beside" });
    else go(to, target === null ? {} : { pane: target });
  };
  return (
    <a {...rest} href={href} onClick={handleClick}>
      {children}
    </a>
  );
}
