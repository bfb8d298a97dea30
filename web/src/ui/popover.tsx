// A button that opens a panel above or below itself. Escape and a press outside close the panel; the focus returns to the button.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { joinClasses } from "./classes.ts";
import { Icon } from "./icon.tsx";
import "./popover.css";

/** Minimum distance to the edge of the window, and to the button. */
const MARGIN_PX = 8;

type PopoverProps = {
  /** The accessible name of the button and the panel. */
  label: string;
  /** What the button shows. */
  face: ComponentChildren;
  tone?: "plain" | "danger";
  disabled?: boolean;
  /** The panel. `close` closes it. */
  children: (close: () => void) => ComponentChildren;
};

export function Popover({ label, face, tone = "plain", disabled = false, children }: PopoverProps) {
  const [isOpen, setOpen] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const { current } = panel;
    if (!isOpen || current === null) return;
    // In the top layer, so that no scrolling box cuts it off.
    current.showPopover();
    const place = () => placeBeside(opener.current!, current);
    place();
    // By rank: keys that are typed by mistake then change nothing.
    const found = ["[autofocus]", "[aria-checked=true], input:checked", "input, button"].map((wanted) =>
      current.querySelector<HTMLElement>(wanted),
    );
    (found.find((one) => one !== null) ?? current).focus();
    const sizes = new ResizeObserver(place);
    sizes.observe(current);
    addEventListener("resize", place);
    return () => {
      sizes.disconnect();
      removeEventListener("resize", place);
    };
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  return (
    <>
      <button
        type="button"
        ref={opener}
        class={joinClasses("chip", tone === "danger" && "chip-danger")}
        aria-label={label}
        title={label}
        aria-haspopup="dialog"
        aria-expanded={isOpen ? "true" : "false"}
        aria-controls={isOpen ? id : undefined}
        disabled={disabled}
        onClick={() => setOpen(!isOpen)}
      >
        {face}
        <Icon name="down" />
      </button>
      {isOpen && (
        <div
          class="popover"
          ref={panel}
          id={id}
          popover="auto"
          role="dialog"
          aria-label={label}
          tabIndex={-1}
          // Whoever goes on elsewhere, with Tab or a key that focuses a field, is done here.
          onFocusOut={({ relatedTarget }) => {
            const isElsewhere = relatedTarget instanceof Node && !panel.current!.contains(relatedTarget);
            if (isElsewhere && relatedTarget !== opener.current) setOpen(false);
          }}
          onToggle={(event) => event.newState === "closed" && setOpen(false)}
          onKeyDown={(event) => {
            // Keys of the page, such as the one that stops a run, are not meant.
            event.stopPropagation();
            if (event.key !== "Escape") return;
            event.preventDefault();
            close();
          }}
        >
          {children(close)}
        </div>
      )}
    </>
  );
}

/** Above the button if there is more room, otherwise below; inside the window. */
function placeBeside(opener: HTMLElement, panel: HTMLElement): void {
  const { top, bottom, left } = opener.getBoundingClientRect();
  const roomAbove = top - 2 * MARGIN_PX;
  const roomBelow = innerHeight - bottom - 2 * MARGIN_PX;
  const isAbove = roomAbove > roomBelow;
  panel.style.maxHeight = `${Math.max(roomAbove, roomBelow)}px`;
  const { width, height } = panel.getBoundingClientRect();
  panel.style.left = `${Math.max(MARGIN_PX, Math.min(left, innerWidth - width - MARGIN_PX))}px`;
  panel.style.top = `${isAbove ? top - MARGIN_PX - height : bottom + MARGIN_PX}px`;
}
