// Something is going on. Shown by itself it has a label; inside a button the button's words are enough.

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
