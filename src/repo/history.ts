// The commit graph as rows. Owns the table commits. Each row stores its distance from the root along first parents and one
// ancestor to jump to, so the thousandth page of a log costs about as much as the first. It also stores a generation number,
// so an ancestor search stops below the generation of its targets.

import type { Sql, SqlRow } from "../ports/sql.ts";

export type CommitNode = { oid: string; tree: string; parents: string[]; generation: number; depth: number; jump: string };

export class History {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  get(oid: string): CommitNode | undefined {
    const row = this.#sql.get("SELECT * FROM commits WHERE oid = ?", oid);
    return row && fromRow(row);
  }

  /** Throws if the commit is missing: every stored object has its references stored too. */
  requireNode(oid: string): CommitNode {
    const node = this.get(oid);
    if (node === undefined) throw new Error(`commit ${oid} is not in the index`);
    return node;
  }

  add(oid: string, tree: string, parents: readonly string[]): void {
    this.addAll([{ oid, tree, parents }]);
  }

  /** Parents must precede their children. */
  addAll(commits: Iterable<{ oid: string; tree: string; parents: readonly string[] }>): void {
    // The next commit usually needs the row that was just written.
    const cache = new Map<string, CommitNode>();
    const find = (oid: string): CommitNode => cache.get(oid) ?? this.requireNode(oid);
    for (const { oid, tree, parents } of commits) {
      if (cache.has(oid) || this.get(oid) !== undefined) continue;
      const nodes = parents.map(find);
      const first = nodes[0];
      const generation = 1 + nodes.reduce((most, node) => Math.max(most, node.generation), 0);
      const depth = first === undefined ? 0 : first.depth + 1;
      const jump = first === undefined ? oid : jumpFrom(first, find);
      this.#sql.run("INSERT INTO commits VALUES (?, ?, ?, ?, ?, ?)", oid, tree, parents.join(" "), generation, depth, jump);
      cache.set(oid, { oid, tree, parents: [...parents], generation, depth, jump });
    }
  }

  /** A page of the first-parent history of `tip`, newest first. */
  listFirstParents(tip: string, limit: number, offset: number): string[] {
    const start = this.#findAncestor(tip, offset);
    if (start === undefined) return [];
    return this.#sql
      .all(
        `WITH RECURSIVE line (oid, parents, n) AS (
           SELECT oid, parents, 1 FROM commits WHERE oid = ?
           UNION ALL
           SELECT c.oid, c.parents, n + 1 FROM line JOIN commits c ON c.oid = substr(line.parents, 1, 40) WHERE n < ?)
         SELECT oid FROM line ORDER BY n`,
        start,
        limit,
      )
      .map((row) => String(row.oid));
  }

  isAncestor(ancestor: string, of: string): boolean {
    return ancestor === of || this.anyReaches([of], new Set([ancestor]));
  }

  /** Whether every one of `tips` is or has an ancestor among `targets`. */
  everyReaches(tips: readonly string[], targets: ReadonlySet<string>): boolean {
    return tips.every((tip) => this.anyReaches([tip], targets));
  }

  /** Whether any of `tips` is or has an ancestor among `targets`. */
  anyReaches(tips: readonly string[], targets: ReadonlySet<string>): boolean {
    let lowest = Number.POSITIVE_INFINITY;
    for (const target of targets) lowest = Math.min(lowest, this.get(target)?.generation ?? lowest);
    const seen = new Set(tips);
    const stack = [...tips];
    for (let oid = stack.pop(); oid !== undefined; oid = stack.pop()) {
      if (targets.has(oid)) return true;
      const node = this.get(oid);
      if (node === undefined || node.generation <= lowest) continue;
      for (const parent of node.parents) {
        if (seen.has(parent)) continue;
        seen.add(parent);
        stack.push(parent);
      }
    }
    return false;
  }

  #findAncestor(tip: string, steps: number): string | undefined {
    let node = this.requireNode(tip);
    const depth = node.depth - steps;
    if (depth < 0) return undefined;
    while (node.depth > depth) {
      const jump = this.requireNode(node.jump);
      node = jump.depth >= depth ? jump : this.requireNode(node.parents[0]!);
    }
    return node.oid;
  }
}

/** Skew-binary jump pointers: a jump spans the two equal jumps before it, so log n jumps reach any ancestor. */
function jumpFrom(parent: CommitNode, find: (oid: string) => CommitNode): string {
  const first = find(parent.jump);
  const second = find(first.jump);
  return parent.depth - first.depth === first.depth - second.depth ? second.oid : parent.oid;
}

function fromRow(row: SqlRow): CommitNode {
  const parents = String(row.parents);
  return {
    oid: String(row.oid),
    tree: String(row.tree),
    parents: parents === "" ? [] : parents.split(" "),
    generation: Number(row.generation),
    depth: Number(row.depth),
    jump: String(row.jump),
  };
}
