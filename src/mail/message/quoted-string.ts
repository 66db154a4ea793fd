/** Quoted strings of header fields. */

/** Returns the text of a quoted string (RFC 5322 section 3.2.4), which may lack its end. */
export function unquote(quoted: string): string {
  return quoted.replace(/\\([\s\S])|"/g, '$1');
}
