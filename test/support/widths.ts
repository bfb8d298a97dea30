// Checks whether a page fits its window: nothing in it is wider, and no control lies outside.

import type { Page } from "playwright-core";

/** A laptop, a tablet, a small phone. */
export const WIDTHS = [1440, 768, 360] as const;

/** What does not fit at one of the widths, or at those given, one line for each. Restores the size of the page. */
export async function tooWide(page: Page, ...widths: readonly number[]): Promise<string[]> {
  const size = page.viewportSize()!;
  const { height } = size;
  const found: string[] = [];
  for (const width of widths.length === 0 ? WIDTHS : widths) {
    await page.setViewportSize({ width, height });
    found.push(...(await findOverflow(page, width)).map((line) => `${width} px: ${line}`));
  }
  await page.setViewportSize(size);
  return found;
}

/** Boxes that scroll sideways on purpose: their content may be of any width, the box itself must fit. */
const SCROLLERS = "pre, textarea, .table-box, .md-table, .tabs-list";
const CONTROLS = "button, a, input, select, textarea, summary";

/** `width` is the window's: a phone scales a page that is too wide down as a whole and reports a wider window to it. */
function findOverflow(page: Page, width: number): Promise<string[]> {
  return page.evaluate(
    async ({ width, SCROLLERS, CONTROLS }) => {
      // Scripts that react to the window's size have run once a frame was drawn.
      await new Promise(requestAnimationFrame);
      await new Promise((resolve) => setTimeout(resolve, 0));
      const found: string[] = [];
      const { scrollWidth } = document.scrollingElement!;
      if (scrollWidth > width) found.push(`the page is ${scrollWidth} px wide`);
      const note = (element: Element, what: string) => {
        const words = (element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 40);
        found.push(`${[element.localName, ...element.classList].join(".")} "${words}" ${what}`);
      };
      const widest = (scroller: Element) => {
        const reach = (one: Element) => one.getBoundingClientRect().right;
        const [first] = [...scroller.querySelectorAll("*")].toSorted((a, b) => reach(b) - reach(a));
        return first === undefined ? "its text" : [first.localName, ...first.classList].join(".");
      };
      // Text may be cut off at the edge of a box, as with an ellipsis; a control may not.
      const walk = (element: Element, cutByParents: number | null) => {
        if (!element.checkVisibility({ visibilityProperty: true }) || element.classList.contains("unseen")) return;
        // A dialog is above all boxes, and cut by none.
        const cutAt = element.localName === "dialog" ? null : cutByParents;
        const { overflowX } = getComputedStyle(element);
        const box = element.getBoundingClientRect();
        const end = element.matches(CONTROLS) ? Math.min(width, cutAt ?? width) : cutAt === null ? width : Number.POSITIVE_INFINITY;
        if (box.width > 0 && box.height > 0 && (box.left < -0.5 || box.right > end + 0.5))
          return note(element, `reaches from ${Math.round(box.left)} to ${Math.round(box.right)}`);
        if (element.matches(SCROLLERS)) return;
        if (/auto|scroll/.test(overflowX) && element.scrollWidth > element.clientWidth + 1)
          note(element, `scrolls sideways, ${element.scrollWidth} in ${element.clientWidth} px, because of ${widest(element)}`);
        const cuts = /hidden|clip/.test(overflowX);
        for (const child of element.children) walk(child, cuts ? Math.min(box.right, cutAt ?? width) : cutAt);
      };
      walk(document.body, null);
      return found;
    },
    { width, SCROLLERS, CONTROLS },
  );
}
