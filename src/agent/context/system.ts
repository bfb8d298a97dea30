// Context for every process of this gateway: templates written by root, config/ai/context.d.

import { type ContextFile, sortByName, type Section, makeSectionUnlessEmpty } from "./section.ts";
import { renderTemplate } from "./template.ts";

export function makeSystemSections(files: readonly ContextFile[], values: ReadonlyMap<string, string>): Section[] {
  return sortByName(files).flatMap(({ name, text }) => makeSectionUnlessEmpty(`system.context:${name}`, renderTemplate(text, values)));
}
