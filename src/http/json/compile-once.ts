/** Shares what is compiled from equal schemas between the routes and servers of this process. */

/**
 * Returns a compiler that compiles each schema at its first use, and equal schemas once. Schemas come from the routes,
 * so their number is fixed.
 */
export function compileOnce<Compiled>(compile: (schema: object) => Compiled) {
  const known = new Map<string, Compiled>();
  return (schema: object): (() => Compiled) => {
    let compiled: Compiled | undefined;
    return () => {
      compiled ??= find(schema);
      return compiled;
    };
  };

  function find(schema: object): Compiled {
    const text = JSON.stringify(schema);
    const compiled = known.get(text) ?? compile(schema);
    known.set(text, compiled);
    return compiled;
  }
}
