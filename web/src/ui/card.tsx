// A section of a page, with an optional heading and actions.

import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import "./card.css";

type CardProps = { title?: string; text?: string; actions?: ComponentChildren; children?: ComponentChildren };

export function Card({ title, text, actions, children }: CardProps) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={title === undefined ? undefined : id}>
      {(title !== undefined || actions !== undefined) && (
        <header class="card-head">
          <div class="card-words">
            {title !== undefined && <h2 id={id}>{title}</h2>}
            {text !== undefined && <p class="soft">{text}</p>}
          </div>
          {actions !== undefined && <div class="row">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}
