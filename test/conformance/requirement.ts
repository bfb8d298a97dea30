// One requirement, and where it is written: a section of the behaviour, or another place by name.

export type Requirement = { id: string; sentence: string; spec: string };

export function r(id: string, sentence: string, section: string): Requirement {
  const spec = /^[\d., ]+$/.test(section) ? `behaviour §${section}` : section;
  return { id, sentence, spec };
}
