/** Names of the fields by which servers tell the way of a message, and who vouches for it. */

/** Field that shows that this installation has forwarded a message (mailbox-delivery/forward/mark.ts). */
export const FORWARD_MARK = 'X-Postrider-Forwarded';

const NAMES: ReadonlySet<string> = new Set([
  'authentication-results',
  'delivered-to',
  'dkim-signature',
  'received',
  'received-spf',
  'return-path',
  FORWARD_MARK.toLowerCase(),
]);

/** Returns true for the name of such a field in lower case: only servers write them, and no filter of a person. */
export function isTraceField(name: string): boolean {
  return NAMES.has(name) || name.startsWith('arc-');
}
