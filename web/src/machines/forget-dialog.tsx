// Removes a machine from the gateway. Its tokens are revoked first, unless the user unticks that: with a valid token it would
// reconnect at once.

import { useState } from "preact/hooks";
import { makeVisible } from "../../../src/approval/visible.ts";
import { call } from "../state/call.ts";
import { showNotice } from "../state/notices.ts";
import { Checkbox } from "../ui/choice.tsx";
import { ConfirmDialog } from "../ui/confirm-dialog.tsx";

type ForgetProps = { deviceId: string; ownerUid: number; onClose: () => void; onForgotten: () => void };

export function ForgetDialog({ deviceId, ownerUid, onClose, onForgotten }: ForgetProps) {
  const [endTokens, setEndTokens] = useState(true);
  const name = makeVisible(deviceId);
  const forget = async () => {
    if (endTokens) {
      const { tokens } = await call("sys.token.list", { uid: ownerUid });
      const deviceTokens = tokens.filter(({ allowedDeviceId, revokedAt }) => allowedDeviceId === deviceId && revokedAt === null);
      for (const { tokenId } of deviceTokens) await call("sys.token.revoke", { tokenId, reason: "the machine was forgotten" });
    }
    await call("sys.device.remove", { deviceId });
    showNotice(`${name} is forgotten`, "good");
    onForgotten();
  };
  return (
    <ConfirmDialog title={`Forget ${name}?`} confirmLabel="Forget" cancelLabel="Cancel" onConfirm={forget} onClose={onClose}>
      <p>
        The machine is disconnected at once, and agents lose what runs on it. Its description and sharing are deleted. Files and programs on
        the machine stay as they are.
      </p>
      <Checkbox
        label="Revoke its tokens"
        hint="Otherwise it reconnects by itself, as a new machine."
        checked={endTokens}
        onChecked={setEndTokens}
      />
    </ConfirmDialog>
  );
}
