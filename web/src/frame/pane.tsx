// One pane: its title, its buttons, and the screen of its path. After a navigation the title takes the focus, so that a screen
// reader announces it and Tab continues from there.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { screenAt } from "../screens/screens.ts";
import { IconButton } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { badges } from "./badges.ts";
import { ErrorBoundary } from "./error-boundary.tsx";
import { Lazy } from "./lazy.tsx";
import { Link } from "./link.tsx";
import { focusOtherPane } from "./focus-other-pane.ts";
import { overlay } from "./overlay.ts";
import { PaneContext } from "./pane-context.ts";
import { activePane, address, closePane, go, moveCount, type PaneName, splitPath, type Path, activatePane } from "./route.ts";
import { paneActions, titles } from "./titles.ts";

export function Pane({ name, path }: { name: PaneName; path: Path }) {
  const [first, ...rest] = splitPath(path);
  const screen = screenAt(first === undefined ? [] : [first]);
  const title = titles.value[name] ?? screen?.title ?? "Not found";
  const heading = useRef<HTMLHeadingElement>(null);
  const screenId = screen?.id;
  const isActive = activePane.value === name;
  const questionCount = badges.value.approvals ?? 0;
  const hasTwoPanes = address.value.beside !== null;

  useEffect(() => {
    if (isActive) document.title = `${questionCount > 0 ? `(${questionCount}) ` : ""}${title} · GSV`;
  }, [title, isActive, questionCount]);
  // In a layout effect: later, it could take the focus from a field in which the user types already.
  useLayoutEffect(() => {
    if (moveCount.peek() > 0 && activePane.peek() === name) heading.current?.focus({ preventScroll: true });
  }, [screenId]);

  return (
    <PaneContext.Provider value={name}>
      <section
        class="pane"
        data-pane={name}
        aria-labelledby={`pane-${name}-title`}
        onFocusIn={() => activatePane(name)}
        onPointerDown={() => activatePane(name)}
      >
        <header class="pane-head">
          <h1 class="pane-title" id={`pane-${name}-title`} tabIndex={-1} ref={heading}>
            {title}
          </h1>
          {paneActions.value[name]}
          <span class="pane-find">
            <IconButton icon="search" label="Find" onClick={() => (overlay.value = "find")} />
          </span>
          {hasTwoPanes ? (
            <>
              <span class="pane-other">
                <IconButton icon="swap" label="Show the other pane" onClick={focusOtherPane} />
              </span>
              <IconButton icon="close" label={`Close the pane ${title}`} onClick={() => closePane(name)} />
            </>
          ) : (
            <span class="pane-split">
              <IconButton icon="beside" label="Open a second pane beside" onClick={() => go("/", { pane: "beside" })} />
            </span>
          )}
        </header>
        <div class="pane-body">
          <ErrorBoundary path={path} key={screenId}>
            {screen === null ? <NotFound /> : <Lazy load={screen.load} props={{ rest, pane: name }} key={screen.id} />}
          </ErrorBoundary>
        </div>
      </section>
    </PaneContext.Provider>
  );
}

function NotFound() {
  return (
    <EmptyState icon="search" title="There is nothing at this address" text="It may be mistyped, or from another version of GSV.">
      <Link to="/">Go home</Link>
    </EmptyState>
  );
}
