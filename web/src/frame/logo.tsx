// The GSV logo, the same drawing as web/public/favicon.svg.

import "./logo.css";

export function Logo() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect class="mark-ground" width="32" height="32" rx="8" />
      <circle class="mark-line" cx="16" cy="16" r="8.5" />
      <circle class="mark-dot" cx="16" cy="16" r="2.75" />
      <path class="mark-line" d="M16 16h8.5" />
    </svg>
  );
}
