// Templates: {{ key }} is replaced by a value, once. A value that looks like a template stays plain text, so a value such as a
// device's description cannot bring other values into a prompt.

const KEY = /\{\{\s*([\w.]+)\s*\}\}/g;

export function renderTemplate(template: string, values: ReadonlyMap<string, string>): string {
  return template.replace(KEY, (_, key: string) => values.get(key) ?? "");
}
