// Rows of the same kind. Too wide for its place it scrolls by itself, with the keyboard too.

import type { ComponentChildren } from "preact";
import "./table.css";

export type Column<R> = { title: string; /** Numbers stand on the right. */ number?: boolean; cell: (row: R) => ComponentChildren };

type TableProps<R> = { caption: string; columns: readonly Column<R>[]; rows: readonly R[]; rowKey: (row: R) => string };

/** `caption` is read out, not shown: headings say the same to those who see. */
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
