// Every piece the desktop is made of, in every state, for whoever builds with them and for the tests.

import { ICONS, Icon } from "../ui/icon.tsx";

export default function Pieces() {
  return (
    <div class="row">
      {ICONS.map((name) => (
        <span key={name} title={name}>
          <Icon name={name} />
        </span>
      ))}
    </div>
  );
}
