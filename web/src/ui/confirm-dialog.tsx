// Asks for confirmation before an action that cannot be undone, and says what it will do. If the action fails, the dialog stays
// open with the reason.

import type { ComponentChildren } from "preact";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "./banner.tsx";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

type ConfirmProps = {
  title: string;
  /** Such as "Forget it". */
  confirmLabel: string;
  /** Such as "Keep it". */
  cancelLabel: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
};

export function ConfirmDialog({ title, confirmLabel, cancelLabel, onConfirm, onClose, children }: ConfirmProps) {
  const operation = useOperation();
  const confirm = async () => {
    if (await operation.run(onConfirm)) onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{cancelLabel}</Button>
          <Button look="danger" busy={operation.isBusy} onClick={() => void confirm()}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <div class="stack">
        {children}
        {operation.problem !== null && <Banner tone="bad">{operation.problem}</Banner>}
      </div>
    </Dialog>
  );
}
