// The list of keyboard shortcuts that are registered now.

import { Dialog } from "../ui/dialog.tsx";
import { type Action, actions } from "./actions.ts";
import { KeyCaps } from "./key-caps.tsx";
import { overlay } from "./overlay.ts";
import "./keyboard-help.css";

export default function KeyboardHelp() {
  const groups = new Map<string, Action[]>();
  for (const action of actions.value) {
    if (action.keys !== undefined) groups.set(action.group, [...(groups.get(action.group) ?? []), action]);
  }
  return (
    <Dialog title="Keys" onClose={() => (overlay.value = null)}>
      <div class="help">
        {[...groups].map(([group, groupActions]) => (
          <section key={group}>
            <h3 class="help-group">{group}</h3>
            <dl class="help-keys">
              {groupActions.map(({ id, title, keys }) => (
                <div class="help-row" key={id}>
                  <dt>{title}</dt>
                  <dd>
                    <KeyCaps keys={keys!} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
