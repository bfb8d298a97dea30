// A modal dialog based on <dialog>: it traps the focus, closes with Escape and restores the focus. It is open while it is
// rendered.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { IconButton } from "./button.tsx";
import { joinClasses } from "./classes.ts";
import "./dialog.css";

type DialogProps = {
  title: string;
  onClose: () => void;
  /** The buttons, the confirming one last. */
  actions?: ComponentChildren;
  /** The title is only for screen readers: for dialogs that are clear without one. */
  bare?: boolean;
  /** A press beside it does not close it: for dialogs that hold what was typed, or what is shown only once. */
  isKept?: boolean;
  children: ComponentChildren;
};

export function Dialog({ title, onClose, actions, bare = false, isKept = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  /** A selection that is dragged out of a field ends beside the dialog, but does not begin there. */
  const isPressedBeside = useRef(false);
  useLayoutEffect(() => {
    const { current } = dialog;
    const previousFocus = document.activeElement;
    current?.showModal();
    // Focus the dialog itself: its first control may be a destructive one.
    if (current?.querySelector("[autofocus]") === null) current.focus();
    return () => {
      current?.close();
      if (previousFocus instanceof HTMLElement && previousFocus.isConnected) previousFocus.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      tabIndex={-1}
      class={joinClasses("dialog", bare && "dialog-bare")}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onPointerDown={(event) => {
        isPressedBeside.current = event.target === dialog.current;
      }}
      onClick={(event) => {
        if (event.target === dialog.current && isPressedBeside.current && !isKept) onClose();
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
