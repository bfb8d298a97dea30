// A data table. If it is too wide it scrolls horizontally, also by keyboard.

import type { ComponentChildren } from "preact";
import "./table.css";

export type Column<R> = { title: string; /** Right-aligned. */ number?: boolean; cell: (row: R) => ComponentChildren };

type TableProps<R> = { caption: string; columns: readonly Column<R>[]; rows: readonly R[]; rowKey: (row: R) => string };

/** `caption` is only for screen readers: visible headings say the same. */
export function Table<R>({ caption, columns, rows, rowKey }: TableProps<R>) {
  return (
    <div class="table-box" role="region" aria-label={caption} tabIndex={0}>
      <table class="table">
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, number }) => (
              <th key={title} scope="col" class={number === true ? "table-number" : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map(({ title, number, cell }) => (
                <td key={title} class={number === true ? "table-number" : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
