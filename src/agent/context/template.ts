// Templates: {{ key }} becomes a value, once. A value that looks like a template stays the text it is, so nobody who can name
// a device can write into a prompt what its author did not.

const KEY = /\{\{\s*([\w.]+)\s*\}\}/g;

export function render(template: string, values: ReadonlyMap<string, string>): string {
  return template.replace(KEY, (_, key: string) => values.get(key) ?? "");
}
