// Renders TeX as MathML, by KaTeX. KaTeX only makes the tree: its elements become nodes here, with the attributes listed, so that no
// HTML is parsed and no style attribute is written. What is malformed, too large or too deep is not rendered.

import { createElement, type VNode } from "preact";
import { __renderToDomTree as makeTree } from "katex";
import { mathLetters } from "./math-letters.ts";

const NODES_MAX = 4_000;
const DEPTH_MAX = 80;
const OPTIONS = { output: "mathml", throwOnError: true, strict: "ignore", trust: false, maxExpand: 300, maxSize: 30 } as const;
const ELEMENTS = new Set(
  "math,mtext,mn,mo,mi,mspace,mover,munder,munderover,msup,msub,msubsup,mfrac,mroot,msqrt,mtable,mtr,mtd,mrow,mstyle,mpadded,mphantom,menclose".split(
    ",",
  ),
);
const LETTERED = new Set(["mi", "mn", "mo", "mtext"]);
const ATTRIBUTES = new Set(
  "display,accent,accentunder,stretchy,fence,separator,lspace,rspace,form,largeop,movablelimits,minsize,maxsize,symmetric,displaystyle,scriptlevel,linethickness,mathcolor,mathbackground,mathsize,width,height,depth,voffset,data-align".split(
    ",",
  ),
);

/** A node of KaTeX's tree: an element, text, or a space that is text or an element. */
type TreeNode = {
  type?: string;
  attributes?: Record<string, string>;
  children?: TreeNode[];
  text?: string;
  character?: string | null;
  width?: number;
};

declare module "katex" {
  /** Not in its types. With output "mathml", the first child of the tree is the math element. */
  export function __renderToDomTree(tex: string, options: object): TreeNode;
}

export function renderTex(tex: string, isDisplay: boolean): VNode | null {
  try {
    const tree: TreeNode = makeTree(tex, { ...OPTIONS, displayMode: isDisplay });
    const budget = { nodes: NODES_MAX };
    const [math] = elementsOf(tree.children ?? [], 0, budget);
    return typeof math === "object" ? math : null;
  } catch {
    return null;
  }
}

type Rendered = VNode | string;
type Budget = { nodes: number };
class TooLarge extends Error {}

function elementsOf(nodes: readonly TreeNode[], depth: number, budget: Budget): Rendered[] {
  if (depth > DEPTH_MAX) throw new TooLarge();
  return nodes.flatMap((node) => elementOf(node, depth, budget));
}

function elementOf(node: TreeNode, depth: number, budget: Budget): Rendered[] {
  budget.nodes -= 1;
  if (budget.nodes < 0) throw new TooLarge();
  const { type, attributes = {}, children = [] } = node;
  if (type === undefined) return [textOf(node)];
  // The source is kept by the formula that shows this.
  if (type === "annotation") return [];
  const inside = elementsOf(
    type === "mtable" ? alignCells(children, (attributes.columnalign ?? "").split(" ")) : children,
    depth + 1,
    budget,
  );
  if (!ELEMENTS.has(type)) return inside;
  const texts = inside.filter((part) => typeof part === "string");
  if (texts.length === 0 || texts.length < inside.length || !LETTERED.has(type))
    return [createElement(type, attributesOf(attributes), ...inside)];
  const text = texts.join("");
  const letters = mathLetters(text, attributes.mathvariant ?? "");
  // A single letter is in italics unless this says otherwise.
  const upright = attributes.mathvariant === "normal" || letters !== text ? { mathvariant: "normal" } : {};
  return [createElement(type, { ...attributesOf(attributes), ...upright }, letters)];
}

/** Browsers ignore the columnalign of tables: each cell gets its own. */
function alignCells(rows: readonly TreeNode[], columns: readonly string[]): TreeNode[] {
  const alignCell = (cell: TreeNode, at: number) => ({ ...cell, attributes: { ...cell.attributes, "data-align": columns[at] ?? "" } });
  return rows.map((row) => ({ ...row, children: (row.children ?? []).map(alignCell) }));
}

function textOf({ text, character, width = 0 }: TreeNode): Rendered {
  if (text !== undefined) return text;
  return character ?? createElement("mspace", { width: `${width}em` });
}

function attributesOf(attributes: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => ATTRIBUTES.has(name)));
}
