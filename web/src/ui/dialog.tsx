// A dialog over the page, by the browser's own <dialog>: it keeps the focus inside, closes with Escape and gives the focus
// back. Whoever shows one renders it; taking it out of the page closes it.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { IconButton } from "./button.tsx";
import { classes } from "./classes.ts";
import "./dialog.css";

type DialogProps = {
  title: string;
  onClose: () => void;
  /** Buttons below, the one that does it last. */
  actions?: ComponentChildren;
  /** Its title is only read out: for dialogs that explain themselves. */
  bare?: boolean;
  children: ComponentChildren;
};

export function Dialog({ title, onClose, actions, bare = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const { current } = dialog;
    const back = document.activeElement;
    current?.showModal();
    // On nothing yet: what is first in it may be what one should think about twice.
    if (current?.querySelector("[autofocus]") === null) current.focus();
    return () => {
      current?.close();
      if (back instanceof HTMLElement && back.isConnected) back.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      class={classes("dialog", bare && "dialog-bare")}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-box">
        <header class={bare ? "unseen" : "dialog-head"}>
          <h2 id={id}>{title}</h2>
          {!bare && <IconButton icon="close" label="Close" onClick={onClose} />}
        </header>
        <div class="dialog-body">{children}</div>
        {actions !== undefined && <footer class="dialog-foot">{actions}</footer>}
      </div>
    </dialog>
  );
}
