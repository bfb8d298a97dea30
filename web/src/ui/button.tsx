// Buttons. One on a page is primary: what one came to do. `busy` says that it is being done and lets nobody do it twice.

import type { ComponentChildren, ComponentProps, Ref } from "preact";
import { classes } from "./classes.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Spinner } from "./spinner.tsx";
import "./button.css";

type Native = Omit<ComponentProps<"button">, "class" | "className" | "icon" | "ref">;
type ButtonProps = Native & {
  look?: "primary" | "plain" | "quiet" | "danger";
  icon?: IconName;
  busy?: boolean;
  wide?: boolean;
  buttonRef?: Ref<HTMLButtonElement>;
  children: ComponentChildren;
};

export function Button({ look = "plain", icon, busy = false, wide = false, buttonRef, children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      ref={buttonRef ?? null}
      class={classes("button", `button-${look}`, wide && "button-wide")}
      disabled={busy || disabled === true}
      aria-busy={busy ? "true" : undefined}
    >
      {busy ? <Spinner /> : icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

type IconButtonProps = Native & { icon: IconName; label: string; buttonRef?: Ref<HTMLButtonElement> };

/** Its label is what a screen reader says and what the pointer shows. */
export function IconButton({ icon, label, buttonRef, ...rest }: IconButtonProps) {
  return (
    <button type="button" {...rest} ref={buttonRef ?? null} class="icon-button" aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}
