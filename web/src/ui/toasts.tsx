// Shows the notices of state/notices.ts in a corner. Screen readers announce them in a pause.

import { notices, dismissNotice } from "../state/notices.ts";
import { Button, IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";
import "./toasts.css";

export function Toasts() {
  return (
    <div class="toasts" role="region" aria-label="Notices" aria-live="polite">
      {notices.value.map(({ id, text, tone, action }) => (
        <div class={`toast toast-${tone}`} key={id}>
          {tone !== "plain" && <Icon name={tone === "good" ? "check" : "warning"} />}
          <p class="toast-text">{text}</p>
          {action !== null && (
            <Button
              look="quiet"
              onClick={() => {
                dismissNotice(id);
                action.run();
              }}
            >
              {action.title}
            </Button>
          )}
          <IconButton icon="close" label="Dismiss this notice" onClick={() => dismissNotice(id)} />
        </div>
      ))}
    </div>
  );
}
