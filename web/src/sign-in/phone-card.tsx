// The way to the dialog that signs a phone in, for Settings.

import { overlay } from "../frame/overlay.ts";
import { mayCall } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";

export function PhoneCard() {
  if (!mayCall("sys.signin.create")) return null;
  return (
    <Card title="Your phone" text="Scan a QR code to sign in on a phone without typing an address or a password.">
      <div class="row">
        <Button onClick={() => (overlay.value = "sign-in")}>Sign in on a phone…</Button>
      </div>
    </Card>
  );
}
