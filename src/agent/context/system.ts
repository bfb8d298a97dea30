// Context for every process of this gateway: templates written by root, config/ai/context.d.

import { type ContextFile, sortByName, type Section, section } from "./section.ts";
import { renderTemplate } from "./template.ts";

export function systemContext(files: readonly ContextFile[], values: ReadonlyMap<string, string>): Section[] {
  return sortByName(files).flatMap(({ name, text }) => section(`system.context:${name}`, renderTemplate(text, values)));
}
