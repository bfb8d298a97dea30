// Renders the Markdown of a model as nodes, never as HTML. While a text grows, only its last block is rendered again.

import { Component, type ComponentChildren } from "preact";
import { type Block, parseBlocks } from "./blocks.ts";
import { CodeBlock } from "./code-block.tsx";
import { type Inline, parseInlines } from "./inlines.ts";
import { Formula } from "./math.tsx";
import "./markdown.css";

/** Deeper nesting is shown as plain text. */
const DEPTH_MAX = 6;

export default function Markdown({ text }: { text: string }) {
  return <div class="md">{renderBlocks(text, 0)}</div>;
}

function renderBlocks(text: string, depth: number): ComponentChildren {
  if (depth > DEPTH_MAX) return <p>{text}</p>;
  return parseBlocks(text).map((block, at) => <BlockView key={at} block={block} depth={depth} />);
}

type BlockProps = { block: Block; depth: number };

class BlockView extends Component<BlockProps> {
  override shouldComponentUpdate({ block }: BlockProps): boolean {
    return block.source !== this.props.block.source;
  }

  render({ block, depth }: BlockProps) {
    switch (block.type) {
      case "paragraph":
        return <p>{renderInlines(block.text)}</p>;
      case "heading":
        return <Heading level={block.level}>{renderInlines(block.text)}</Heading>;
      case "code":
        return <CodeBlock language={block.language} text={block.text} />;
      case "quote":
        return <blockquote>{renderBlocks(block.text, depth + 1)}</blockquote>;
      case "math":
        return <Formula tex={block.tex} isDisplay />;
      case "rule":
        return <hr />;
      case "list":
        return <List {...block} depth={depth} />;
      case "table":
        return <Table {...block} />;
    }
  }
}

/** Starts at h3, below the headings of the page. */
function Heading({ level, children }: { level: number; children: ComponentChildren }) {
  if (level <= 1) return <h3 class="md-h1">{children}</h3>;
  if (level === 2) return <h4 class="md-h2">{children}</h4>;
  return <h5 class="md-h3">{children}</h5>;
}

function List({ start, items, depth }: Extract<Block, { type: "list" }> & { depth: number }) {
  const entries = items.map(({ text, isChecked }, at) => (
    <li key={at} class={isChecked === null ? undefined : "md-task"}>
      {isChecked !== null && <span class="md-box" role="img" aria-label={isChecked ? "done" : "to do"} data-checked={isChecked} />}
      <div class="md-item">{renderBlocks(text, depth + 1)}</div>
    </li>
  ));
  return start === null ? <ul>{entries}</ul> : <ol start={start}>{entries}</ol>;
}

function Table({ align, head, rows }: Extract<Block, { type: "table" }>) {
  const alignClass = (column: number) => (align[column] === null ? undefined : `md-${align[column]}`);
  return (
    <div class="md-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {head.map((cell, at) => (
              <th key={at} class={alignClass(at)} scope="col">
                {renderInlines(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td key={column} class={alignClass(column)}>
                  {renderInlines(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function renderInlines(text: string): ComponentChildren {
  return parseInlines(text).map(renderInline);
}

function renderInline(inline: Inline, key: number): ComponentChildren {
  switch (inline.type) {
    case "text":
      return inline.text;
    case "code":
      return <code key={key}>{inline.text}</code>;
    case "math":
      return <Formula key={key} tex={inline.tex} isDisplay={inline.isDisplay} />;
    case "break":
      return <br key={key} />;
    case "strong":
      return <strong key={key}>{inline.children.map(renderInline)}</strong>;
    case "em":
      return <em key={key}>{inline.children.map(renderInline)}</em>;
    case "del":
      return <del key={key}>{inline.children.map(renderInline)}</del>;
    case "link":
      return (
        <a key={key} href={inline.href} title={inline.href} target="_blank" rel="noopener noreferrer nofollow">
          {inline.children.map(renderInline)}
        </a>
      );
  }
}
