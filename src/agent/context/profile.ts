// Context for processes of one profile: templates written by root, or files of the profile's package.

import { type ContextFile, lexical, type Section, section } from "./section.ts";
import { render } from "./template.ts";

export function profileContext(files: readonly ContextFile[], values: ReadonlyMap<string, string>): Section[] {
  return lexical(files).flatMap(({ name, text }) => section(`profile.context:${name}`, render(text, values)));
}
