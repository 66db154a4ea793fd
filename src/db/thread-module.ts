/** The module a database thread runs: beside this one, and compiled or not like this one. */
export function threadModule(name: 'writer-thread' | 'reader-thread'): URL {
  return new URL(`./${name}${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);
}
