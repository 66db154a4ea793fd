/** Addresses in scripts, which may have white space and comments around their parts, as in header fields (RFC 5228 section 2.4.2.3). */
import { parseMailbox } from '../../address.ts';

/** Returns the mailbox that a text is, in a form without comments and needless white space; undefined for any other text. */
export function readScriptMailbox(text: string): string | undefined {
  return parseMailbox(text) ? text : readScriptAddress(text);
}

/** Returns the address of a text that is one mailbox, with or without a name; undefined for any other text. */
export function readScriptAddress(text: string): string | undefined {
  const plain = parseMailbox(text);
  // White space in a quoted local part belongs to it.
  if (plain || text.includes('"')) return plain?.address;
  const withoutComments = text.replace(/\([^()]*\)/g, ' ');
  const parts = withoutComments.split('@').map((part) => part.trim());
  return parseMailbox(parts.join('@'))?.address;
}
