/**
 * Returns the URL of the module that a database thread runs. It lies beside this one and has the same file extension,
 * compiled or not.
 */
export function threadModule(name: 'writer-thread' | 'reader-thread'): URL {
  return new URL(`./${name}${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url);
}
