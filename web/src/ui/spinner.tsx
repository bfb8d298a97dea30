// A busy indicator. It has a label unless it is inside a button, whose text is enough.

import "./spinner.css";

export function Spinner({ label }: { label?: string }) {
  return label === undefined ? (
    <span class="spinner" aria-hidden="true" />
  ) : (
    <span class="spinner-line" role="status">
      <span class="spinner" aria-hidden="true" />
      <span>{label}</span>
    </span>
  );
}
