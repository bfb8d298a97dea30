// Buttons. Each page has one primary button, its main action. `busy` shows that the action runs and disables the button.

import type { ComponentChildren, ComponentProps, Ref } from "preact";
import { joinClasses } from "./classes.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Spinner } from "./spinner.tsx";
import "./button.css";

type NativeProps = Omit<ComponentProps<"button">, "class" | "className" | "icon" | "ref">;
type ButtonProps = NativeProps & {
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
      class={joinClasses("button", `button-${look}`, wide && "button-wide")}
      disabled={busy || disabled === true}
      aria-busy={busy ? "true" : undefined}
    >
      {busy ? <Spinner /> : icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

type IconButtonProps = NativeProps & { icon: IconName; label: string; buttonRef?: Ref<HTMLButtonElement> };

/** The label is the accessible name and the tooltip. */
export function IconButton({ icon, label, buttonRef, ...rest }: IconButtonProps) {
  return (
    <button type="button" {...rest} ref={buttonRef ?? null} class="icon-button" aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}
