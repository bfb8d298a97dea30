// Inserts generated parts into a guide, each between `<!-- generated: name -->` and `<!-- end -->`.

export function filled(path: string, text: string, parts: Readonly<Record<string, () => string>>): string {
  return Object.entries(parts).reduce((guide, [name, part]) => {
    const [begin, end] = [`<!-- generated: ${name} -->`, "<!-- end -->"];
    const from = guide.indexOf(begin);
    const to = guide.indexOf(end, from);
    if (from === -1 || to === -1) throw new Error(`${path} has no place for ${name}: ${begin} and ${end}`);
    return `${guide.slice(0, from + begin.length)}\n\n${part()}\n\n${guide.slice(to)}`;
  }, text);
}
