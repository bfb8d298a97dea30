// Asks once more before something that cannot be taken back, and says what will happen. Stays open with the reason where it
// could not be done.

import type { ComponentChildren } from "preact";
import { useOperation } from "../state/use-operation.ts";
import { Banner } from "./banner.tsx";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

type ConfirmProps = {
  title: string;
  /** What the button does: "Forget it". */
  does: string;
  /** What leaving it does: "Keep it". */
  keeps: string;
  onDo: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
};

export function Confirm({ title, does, keeps, onDo, onClose, children }: ConfirmProps) {
  const operation = useOperation();
  const act = async () => {
    if (await operation.run(onDo)) onClose();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{keeps}</Button>
          <Button look="danger" busy={operation.isBusy} onClick={() => void act()}>
            {does}
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
