// One pane: a heading, what can be done with the pane, and the screen of its path. After a move the heading takes the focus,
// so that a screen reader says where one is and Tab goes on from there.

import { useEffect, useRef } from "preact/hooks";
import { screenAt } from "../screens/screens.ts";
import { ownQuestionCount } from "../state/approvals.ts";
import { IconButton } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { Guarded } from "./guarded.tsx";
import { Lazy } from "./lazy.tsx";
import { Link } from "./link.tsx";
import { otherPane } from "./other-pane.ts";
import { overlay } from "./overlay.ts";
import { PaneContext } from "./pane-context.ts";
import { activePane, address, closePane, go, moves, type PaneName, parts, type Path, touchPane } from "./route.ts";
import { titles } from "./titles.ts";

export function Pane({ name, path }: { name: PaneName; path: Path }) {
  const [first, ...rest] = parts(path);
  const screen = screenAt(first === undefined ? [] : [first]);
  const title = titles.value[name] ?? screen?.title ?? "Not found";
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = screen?.id;
  const isActive = activePane.value === name;
  const isTwo = address.value.beside !== null;

  useEffect(() => {
    if (isActive) document.title = `${ownQuestionCount.value > 0 ? `(${ownQuestionCount.value}) ` : ""}${title} · GSV`;
  }, [title, isActive, ownQuestionCount.value]);
  useEffect(() => {
    if (moves.peek() > 0 && activePane.peek() === name) heading.current?.focus({ preventScroll: true });
  }, [shown]);

  return (
    <PaneContext.Provider value={name}>
      <section
        class="pane"
        data-pane={name}
        aria-labelledby={`pane-${name}-title`}
        onFocusIn={() => touchPane(name)}
        onPointerDown={() => touchPane(name)}
      >
        <header class="pane-head">
          <h1 class="pane-title" id={`pane-${name}-title`} tabIndex={-1} ref={heading}>
            {title}
          </h1>
          <span class="pane-find">
            <IconButton icon="search" label="Find an action" onClick={() => (overlay.value = "palette")} />
          </span>
          {isTwo ? (
            <>
              <span class="pane-other">
                <IconButton icon="swap" label="Show the other pane" onClick={otherPane} />
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
          <Guarded path={path} key={shown}>
            {screen === null ? <Missing /> : <Lazy load={screen.load} props={{ rest, pane: name }} key={screen.id} />}
          </Guarded>
        </div>
      </section>
    </PaneContext.Provider>
  );
}

function Missing() {
  return (
    <EmptyState icon="search" title="There is nothing at this address" text="It may be mistyped, or from another version of GSV.">
      <Link to="/">Go home</Link>
    </EmptyState>
  );
}
