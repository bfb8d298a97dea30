// What processes of one profile are told: templates of root's, or files of the package the profile is of.

import { type ContextFile, lexical, type Section, section } from "./section.ts";
import { render } from "./template.ts";

export function profileContext(files: readonly ContextFile[], values: ReadonlyMap<string, string>): Section[] {
  return lexical(files).flatMap(({ name, text }) => section(`profile.context:${name}`, render(text, values)));
}
