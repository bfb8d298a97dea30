// What can be done with one thing, behind a button. Arrow keys move, Escape closes and gives the focus back.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "./button.tsx";
import { classes } from "./classes.ts";
import { Icon, type IconName } from "./icon.tsx";
import "./menu.css";

/** So far it stays from the edge of the window. */
const EDGE_PX = 8;

export type MenuItem = { title: string; icon?: IconName; danger?: boolean; disabled?: boolean; run: () => void };

/** `label` says of what: "What to do with laptop". */
export function Menu({ label, icon = "more", items }: { label: string; icon?: IconName; items: readonly MenuItem[] }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const hasIcons = items.some((item) => item.icon !== undefined);
  const entries = () => [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]:not(:disabled)") ?? [])];

  useLayoutEffect(() => {
    if (!isOpen) return;
    const place = () => keepInside(list.current!);
    place();
    addEventListener("resize", place);
    return () => removeEventListener("resize", place);
  }, [isOpen]);

  useLayoutEffect(() => {
    if (!isOpen) return;
    entries()[0]?.focus();
    const outside = (event: Event) => {
      if (event.target instanceof Node && box.current?.contains(event.target) === true) return;
      setOpen(false);
    };
    addEventListener("pointerdown", outside);
    addEventListener("focusin", outside);
    return () => {
      removeEventListener("pointerdown", outside);
      removeEventListener("focusin", outside);
    };
  }, [isOpen]);

  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  const press = (event: KeyboardEvent) => {
    const all = entries();
    const at = all.findIndex((entry) => entry === document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    if (to !== undefined && all.length > 0) all[to % all.length]?.focus();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="menu" ref={box}>
      <IconButton
        icon={icon}
        label={label}
        buttonRef={opener}
        aria-haspopup="menu"
        aria-expanded={isOpen ? "true" : "false"}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen && (
        <div class="menu-list" role="menu" id={id} ref={list} aria-label={label} tabIndex={-1} onKeyDown={press}>
          {items.map(({ title, icon, danger, disabled, run }) => (
            <button
              type="button"
              role="menuitem"
              key={title}
              class={classes("menu-item", danger === true && "menu-danger", hasIcons && icon === undefined && "menu-indented")}
              disabled={disabled === true}
              tabIndex={-1}
              onClick={() => {
                close();
                run();
              }}
            >
              {icon !== undefined && <Icon name={icon} />}
              {title}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** It ends where its button does; a button near the left edge has it begin further to the right. */
function keepInside(list: HTMLElement): void {
  list.style.translate = "";
  const { left } = list.getBoundingClientRect();
  if (left < EDGE_PX) list.style.translate = `${EDGE_PX - left}px`;
}
