// A page with one thing on it: logging in, waiting, setting up.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Mark } from "./mark.tsx";
import "./single-card-page.css";

export function Alone({
  title,
  text,
  wide = false,
  children,
}: {
  title: string;
  text?: string;
  wide?: boolean;
  children: ComponentChildren;
}) {
  useEffect(() => {
    document.title = title === "GSV" ? "GSV" : `${title} · GSV`;
  }, [title]);
  return (
    <main class={wide ? "alone alone-wide" : "alone"}>
      <div class="alone-box stack">
        <Mark />
        <div>
          <h1>{title}</h1>
          {text !== undefined && <p class="soft">{text}</p>}
        </div>
        {children}
      </div>
    </main>
  );
}
