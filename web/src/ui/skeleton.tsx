// A placeholder in the shape of the content that is loading.

import "./skeleton.css";

export function Skeleton({ label, lines = 3 }: { label: string; lines?: number }) {
  return (
    <div class="skeleton" role="status">
      <span class="unseen">{label}</span>
      {Array.from({ length: lines }, (_, at) => (
        <span class="skeleton-line" key={at} />
      ))}
    </div>
  );
}
