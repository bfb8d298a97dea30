// One requirement and its source: a section of the behaviour document, or another document by name.

export type Requirement = { id: string; sentence: string; spec: string };

export function r(id: string, sentence: string, section: string): Requirement {
  const spec = /^[\d., ]+$/.test(section) ? `behaviour §${section}` : section;
  return { id, sentence, spec };
}
