// Installs GSV as an app, for Settings.

import { installOffer } from "../state/install-offer.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/card.tsx";
import { describeInstallation } from "./describe-installation.ts";
import { installApp, isInstalledApp } from "./install.ts";

export function InstallCard() {
  if (isInstalledApp()) return null;
  return (
    <Card
      title="Install GSV"
      text="As an app it has its own window and icon, which shows how many questions wait for you. It works only online."
    >
      {installOffer.value !== null ? (
        <div class="row">
          <Button onClick={() => void installApp()}>Install app</Button>
        </div>
      ) : (
        <p>{describeInstallation(navigator, isSecureContext)}</p>
      )}
    </Card>
  );
}
