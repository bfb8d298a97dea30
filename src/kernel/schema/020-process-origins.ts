// Whether the source of a message or a process was asking before every action. Nothing was in the table before.

export const processOrigins = {
  version: 20,
  statements: ["ALTER TABLE process_origins ADD COLUMN asks INTEGER NOT NULL DEFAULT 0"],
} as const;
