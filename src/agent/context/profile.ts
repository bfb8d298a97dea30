// Context for processes of one profile: templates written by root, or files of the profile's package.

import { type ContextFile, sortByName, type Section, makeSectionUnlessEmpty } from "./section.ts";
import { renderTemplate } from "./template.ts";

export function makeProfileSections(files: readonly ContextFile[], values: ReadonlyMap<string, string>): Section[] {
  return sortByName(files).flatMap(({ name, text }) => makeSectionUnlessEmpty(`profile.context:${name}`, renderTemplate(text, values)));
}
