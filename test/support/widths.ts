// Whether a page fits its window: nothing in it is wider, and nothing that is to be pressed lies outside.

import type { Page } from "playwright-core";

/** A laptop, a tablet, a phone. */
export const WIDTHS = [1440, 768, 390] as const;

/** What does not fit at one of the widths, one line for each. The page has its own size again afterwards. */
export async function tooWide(page: Page): Promise<string[]> {
  const size = page.viewportSize()!;
  const { height } = size;
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height });
    found.push(...(await outside(page, width)).map((line) => `${width} px: ${line}`));
  }
  await page.setViewportSize(size);
  return found;
}

/** Boxes that are there to be scrolled sideways: what lies in one may be as wide as it likes, the box itself may not. */
const SCROLLED = "pre, textarea, .table-box, .md-table, .tabs-list, .settings-pages ul";
const PRESSED = "button, a, input, select, textarea, summary";

/** `width` is of the window: a phone shows a page that is too wide as a whole, small, and tells the page of a wider window. */
function outside(page: Page, width: number): Promise<string[]> {
  return page.evaluate(
    async ({ width, SCROLLED, PRESSED }) => {
      // What follows the size of the window by script has done so when a frame was drawn.
      await new Promise(requestAnimationFrame);
      await new Promise((resolve) => setTimeout(resolve, 0));
      const found: string[] = [];
      const { scrollWidth } = document.scrollingElement!;
      if (scrollWidth > width) found.push(`the page is ${scrollWidth} px wide`);
      const note = (element: Element, what: string) => {
        const words = (element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 40);
        found.push(`${[element.localName, ...element.classList].join(".")} "${words}" ${what}`);
      };
      // Words may be cut off at the edge of a box, as a name with dots at its end is; what is to be pressed may not.
      const walk = (element: Element, cutAt: number | null) => {
        if (!element.checkVisibility({ visibilityProperty: true }) || element.classList.contains("unseen")) return;
        const { overflowX } = getComputedStyle(element);
        const box = element.getBoundingClientRect();
        const end = element.matches(PRESSED) ? Math.min(width, cutAt ?? width) : cutAt === null ? width : Number.POSITIVE_INFINITY;
        if (box.width > 0 && box.height > 0 && (box.left < -0.5 || box.right > end + 0.5))
          return note(element, `reaches from ${Math.round(box.left)} to ${Math.round(box.right)}`);
        if (element.matches(SCROLLED)) return;
        if (/auto|scroll/.test(overflowX) && element.scrollWidth > element.clientWidth + 1)
          note(element, `scrolls sideways, ${element.scrollWidth} in ${element.clientWidth} px`);
        const cuts = /hidden|clip/.test(overflowX);
        for (const child of element.children) walk(child, cuts ? Math.min(box.right, cutAt ?? width) : cutAt);
      };
      walk(document.body, null);
      return found;
    },
    { width, SCROLLED, PRESSED },
  );
}
