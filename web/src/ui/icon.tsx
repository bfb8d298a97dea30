// The icons: strokes of one weight in a square of 24, in the colour of the surrounding text. They appear next to text or in a
// button with a label, so they are hidden from screen readers.

import "./icon.css";

const PATHS = {
  home: "M4 11.2 12 4.5l8 6.7V19a1 1 0 0 1-1 1h-4.5v-5.5h-5V20H5a1 1 0 0 1-1-1z",
  chat: "M5 5h14a1.5 1.5 0 0 1 1.5 1.5v8.5a1.5 1.5 0 0 1-1.5 1.5h-7L7.5 20v-3.5H5a1.5 1.5 0 0 1-1.5-1.5V6.5A1.5 1.5 0 0 1 5 5z",
  approval: "M12 3.5 19 6v5.5c0 4.3-2.9 7.5-7 9-4.1-1.5-7-4.7-7-9V6zM9 12l2.2 2.2L15.2 10",
  machine: "M4.5 5h15a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1h-15a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM12 16v3.5M8 19.5h8",
  schedule: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 7.5V12l3 2",
  notification: "M6.5 16V11a5.5 5.5 0 0 1 11 0v5l1.5 1.5H5zM10 20.5h4",
  play: "M8.5 6 17.5 12l-9 6z",
  pause: "M9 6.5v11M15 6.5v11",
  integration: "M9 3.5V8M15 3.5V8M6.5 8h11v3.5a5.5 5.5 0 0 1-11 0zM12 17v3.5",
  settings:
    "M4 8h7.5M16.5 8H20M14 5.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM4 16h3.5M12.5 16H20M10 13.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z",
  pieces: "M4.5 4.5h6v6h-6zM13.5 4.5h6v6h-6zM4.5 13.5h6v6h-6zM13.5 16.5h6M16.5 13.5v6",
  search: "M10.5 4.5a6 6 0 1 1 0 12 6 6 0 0 1 0-12zM15 15l4.5 4.5",
  close: "M6 6l12 12M18 6 6 18",
  plus: "M12 5v14M5 12h14",
  check: "M5 12.5l4.5 4.5L19 7.5",
  copy: "M9 9h9.5a1 1 0 0 1 1 1v8.5a1 1 0 0 1-1 1H10a1 1 0 0 1-1-1zM6 15H5.5a1 1 0 0 1-1-1V5.5a1 1 0 0 1 1-1H14a1 1 0 0 1 1 1V6",
  beside: "M4.5 5h15a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1h-15a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM12.5 5v14",
  swap: "M8 5 4.5 8.5 8 12M4.5 8.5H16M16 12l3.5 3.5L16 19M19.5 15.5H8",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  moon: "M19.5 14.2A8 8 0 0 1 9.8 4.5a8 8 0 1 0 9.7 9.7z",
  system: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 4v16M12 8h5.5M12 12h8M12 16h5.5",
  person: "M12 4.5a3.75 3.75 0 1 1 0 7.5 3.75 3.75 0 0 1 0-7.5zM4.5 20c.6-3.6 3.6-5.5 7.5-5.5s6.9 1.9 7.5 5.5",
  leave: "M14 4.5H6a1 1 0 0 0-1 1v13a1 1 0 0 0 1 1h8M10 12h10M16.5 8.5 20 12l-3.5 3.5",
  info: "M12 4a8 8 0 1 1 0 16 8 8 0 0 1 0-16zM12 11v5M12 8v.1",
  warning: "M12 4.5 20.5 19h-17zM12 10v4M12 16.5v.1",
  keyboard:
    "M4 6.5h16a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1v-9a1 1 0 0 1 1-1zM7 10.5h.1M10.3 10.5h.1M13.6 10.5h.1M17 10.5h.1M8 14h8",
  more: "M5.4 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0zM11.4 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0zM17.4 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0z",
  external: "M13.5 5H19v5.5M19 5l-8 8M16.5 13.5V18a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1V8.5a1 1 0 0 1 1-1h4.5",
  down: "M7 10l5 5 5-5",
  right: "M10 7l5 5-5 5",
  back: "M10.5 6 4.5 12l6 6M4.5 12h15",
  refresh: "M19 8.5A8 8 0 1 0 20 12M19.5 4v4.5H15",
  fork: "M7 4.5v9M7 13.5a2.25 2.25 0 1 0 0 4.5 2.25 2.25 0 0 0 0-4.5zM17 4.5a2.25 2.25 0 1 1 0 4.5 2.25 2.25 0 0 1 0-4.5zM17 9c0 3.5-3 4.5-7.8 5.8",
  archive: "M4.5 5h15v4h-15zM6 9v9.5a.5.5 0 0 0 .5.5h11a.5.5 0 0 0 .5-.5V9M10 12.5h4",
  attach: "M18.5 11.5 11.8 18a4 4 0 0 1-5.7-5.7l7-6.8a2.6 2.6 0 0 1 3.7 3.7l-6.8 6.6a1.2 1.2 0 0 1-1.7-1.7l6-5.9",
  send: "M12 19V6M6 11.5 12 5.5l6 6",
  stop: "M7.5 7.5h9v9h-9z",
  file: "M7 4h6.5L18 8.5V19a1 1 0 0 1-1 1H7a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1zM13 4v5h5",
  pin: "M9.5 4h5l-.6 5.5 3.1 3v2h-10v-2l3.1-3zM12 14.5V20",
  trash: "M5 7h14M9.5 7V4.5h5V7M7 7l.8 12.5h8.4L17 7M10.5 10.5v6M13.5 10.5v6",
  download: "M12 4.5v10M7.5 10.5 12 15l4.5-4.5M5 19.5h14",
  edit: "M5 19l.8-3.6L15.5 5.7a1.4 1.4 0 0 1 2 0l.8.8a1.4 1.4 0 0 1 0 2L8.6 18.2zM14 7.2l2.8 2.8",
} as const;

export type IconName = keyof typeof PATHS;
export const ICONS = Object.keys(PATHS) as IconName[];

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
