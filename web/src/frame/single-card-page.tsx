// A page with a single card, outside the frame: login, connecting, set-up code.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Logo } from "./logo.tsx";
import "./single-card-page.css";

export function SingleCardPage({
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
        <Logo />
        <div>
          <h1>{title}</h1>
          {text !== undefined && <p class="soft">{text}</p>}
        </div>
        {children}
      </div>
    </main>
  );
}
