/** Reads the routes that a server prints. */

export type Route = { method: string; path: string };

/** Spaces by which the tree of routes indents each level. */
const INDENT = 4;

/** Returns the routes that a printed tree of fastify has: `│   └── /:id (GET, HEAD)`. */
export function readRoutes(tree: string): Route[] {
  const parents: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, lead = '', part = '', methods = ''] = /^([│├└─\s]*)(\/\S*) \(([A-Z, ]+)\)$/.exec(line) ?? [];
    if (part === '') return [];
    const level = lead.length / INDENT - 1;
    const path = `${parents[level - 1] ?? ''}${part}`;
    parents.splice(level, parents.length, path);
    return methods.split(', ').map((method) => ({ method, path }));
  });
}
