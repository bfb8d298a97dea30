// Whether a page fits its window: nothing in it is wider, and nothing that can be pressed lies outside.

import type { Page } from "playwright-core";

/** A phone, a tablet, a laptop. */
export const WIDTHS = [390, 768, 1440] as const;
const HEIGHT = 800;

/** What does not fit at one of the widths, one line for each. The page has its own size again afterwards. */
export async function tooWide(page: Page): Promise<string[]> {
  const size = page.viewportSize()!;
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    found.push(...(await outside(page, width)).map((line) => `${width} px: ${line}`));
  }
  await page.setViewportSize(size);
  return found;
}

/** What does not fit into the window as it is now. Of its width the page itself may tell less: a phone shows all of a page that is too wide, small. */
function outside(page: Page, windowWidth: number): Promise<string[]> {
  return page.evaluate(async (windowWidth) => {
    // What follows the size of the window by script has followed it after two frames.
    for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame);
    const found: string[] = [];
    const named = (element: Element) => {
      const words = (element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 40);
      return `${element.localName}${[...element.classList].map((name) => `.${name}`).join("")} "${words}"`;
    };
    // Boxes that are there to be scrolled sideways: what lies in one may be as wide as it likes, the box itself not.
    const scrolls = (element: Element) => element.matches("pre, textarea, .table-box, .md-table, .tabs-list, .settings-pages ul");
    const { scrollWidth } = document.scrollingElement!;
    if (scrollWidth > windowWidth) found.push(`the page is ${scrollWidth} px wide`);
    const walk = (element: Element) => {
      const { overflowX } = getComputedStyle(element);
      if (!element.checkVisibility({ visibilityProperty: true }) || element.classList.contains("unseen")) return;
      const { left, right, width, height } = element.getBoundingClientRect();
      const isThere = width > 0 && height > 0;
      if (isThere && (right > windowWidth + 0.5 || left < -0.5)) {
        found.push(`${named(element)} reaches from ${Math.round(left)} to ${Math.round(right)}`);
        return;
      }
      if (scrolls(element)) return;
      // Nobody sees a bar for it, or expects one.
      if (
        isThere &&
        overflowX !== "visible" &&
        overflowX !== "hidden" &&
        overflowX !== "clip" &&
        element.scrollWidth > element.clientWidth + 1
      )
        found.push(`${named(element)} scrolls sideways: ${element.scrollWidth} in ${element.clientWidth} px`);
      // Words may be cut off where the rest of them can be read elsewhere; what is to be pressed may not.
      if (overflowX === "hidden" || overflowX === "clip") {
        for (const control of element.querySelectorAll("button, a, input, select, textarea, summary")) {
          const box = control.getBoundingClientRect();
          if (box.width > 0 && control.checkVisibility({ visibilityProperty: true }) && box.right > right + 0.5)
            found.push(`${named(control)} is cut off by ${named(element)}`);
        }
        if (element.scrollWidth > element.clientWidth + 1 && element.childElementCount === 0) return;
      }
      for (const child of element.children) walk(child);
    };
    walk(document.body);
    return [...new Set(found)];
  }, windowWidth);
}
