// A formula: its TeX source until the renderer is loaded, and for good if the renderer cannot show it. The renderer is large, so it
// is loaded with the first formula.

import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import "./math.css";

type Renderer = (tex: string, isDisplay: boolean) => VNode | null;

const renderer = signal<Renderer | null>(null);
let isLoading = false;

type MathProps = { tex: string; isDisplay: boolean };

export function Formula({ tex, isDisplay }: MathProps) {
  useEffect(loadRenderer, []);
  const render = renderer.value;
  const tree = useMemo(() => render?.(tex, isDisplay) ?? null, [render, tex, isDisplay]);
  const source = isDisplay ? `$$${tex}$$` : `$${tex}$`;
  if (!isDisplay) return <span data-tex={tree === null ? undefined : source}>{tree ?? source}</span>;
  return (
    <span class="math-display" data-tex={tree === null ? undefined : source} tabIndex={0} role="group" aria-label="Formula">
      {tree ?? source}
    </span>
  );
}

/** If it cannot be loaded, sources stay until a later formula tries again. */
function loadRenderer(): void {
  if (renderer.peek() !== null || isLoading) return;
  isLoading = true;
  import("./render-tex.ts")
    .then(({ renderTex }) => (renderer.value = renderTex))
    .catch(() => {})
    .finally(() => (isLoading = false));
}

/** A copied selection has the TeX source of formulas, not the letters of their parts. */
document.addEventListener("copy", (event) => {
  const selection = document.getSelection();
  if (selection === null || selection.rangeCount === 0 || event.clipboardData === null) return;
  const copied = selection.getRangeAt(0).cloneContents();
  const formulas = copied.querySelectorAll<HTMLElement>("[data-tex]");
  if (formulas.length === 0) return;
  for (const formula of formulas) {
    const isDisplay = formula.classList.contains("math-display");
    formula.replaceChildren(isDisplay ? `\n${formula.dataset.tex!}\n` : formula.dataset.tex!);
  }
  event.clipboardData.setData("text/plain", textOf(copied));
  event.preventDefault();
});

const BLOCKS = new Set(["P", "LI", "H3", "H4", "H5", "BLOCKQUOTE", "TR", "PRE", "ARTICLE", "DIV"]);

/** The text of a fragment that is not in the page, with a line for each block. */
function textOf(node: Node): string {
  const parts: string[] = [];
  const collect = (one: Node) => {
    if (one.nodeType === Node.TEXT_NODE) parts.push(one.textContent ?? "");
    else if (one.nodeName === "BR") parts.push("\n");
    for (const child of one.childNodes) collect(child);
    if (BLOCKS.has(one.nodeName)) parts.push("\n");
  };
  collect(node);
  return parts
    .join("")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}
