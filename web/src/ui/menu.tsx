// A menu of actions behind a button. Arrow keys move, Escape closes it and restores the focus.

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { IconButton } from "./button.tsx";
import { joinClasses } from "./classes.ts";
import { Icon, type IconName } from "./icon.tsx";
import "./menu.css";

/** Minimum distance to the edge of the window. */
const MARGIN_PX = 8;

export type MenuItem = { title: string; icon?: IconName; danger?: boolean; disabled?: boolean; run: () => void };

/** `label` says what the actions apply to: "What to do with laptop". */
export function Menu({ label, icon = "more", items }: { label: string; icon?: IconName; items: readonly MenuItem[] }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const hasIcons = items.some((item) => item.icon !== undefined);
  const findItems = () => [...(box.current?.querySelectorAll<HTMLElement>("[role=menuitem]:not(:disabled)") ?? [])];

  useLayoutEffect(() => {
    if (!isOpen) return;
    const reposition = () => keepInsideWindow(list.current!);
    reposition();
    addEventListener("resize", reposition);
    return () => removeEventListener("resize", reposition);
  }, [isOpen]);

  useLayoutEffect(() => {
    if (!isOpen) return;
    findItems()[0]?.focus();
    const closeIfOutside = (event: Event) => {
      if (event.target instanceof Node && box.current?.contains(event.target) === true) return;
      setOpen(false);
    };
    addEventListener("pointerdown", closeIfOutside);
    addEventListener("focusin", closeIfOutside);
    return () => {
      removeEventListener("pointerdown", closeIfOutside);
      removeEventListener("focusin", closeIfOutside);
    };
  }, [isOpen]);

  const close = () => {
    setOpen(false);
    opener.current?.focus();
  };
  const handleKeydown = (event: KeyboardEvent) => {
    const all = findItems();
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
        <div class="menu-list" role="menu" id={id} ref={list} aria-label={label} tabIndex={-1} onKeyDown={handleKeydown}>
          {items.map(({ title, icon, danger, disabled, run }) => (
            <button
              type="button"
              role="menuitem"
              key={title}
              class={joinClasses("menu-item", danger === true && "menu-danger", hasIcons && icon === undefined && "menu-indented")}
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

/** The list is aligned to the right edge of its button. Near the left edge of the window it is moved to the right. */
function keepInsideWindow(list: HTMLElement): void {
  list.style.translate = "";
  const { left } = list.getBoundingClientRect();
  if (left < MARGIN_PX) list.style.translate = `${MARGIN_PX - left}px`;
}
