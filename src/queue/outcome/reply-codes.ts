/** Reads the codes of a reply that somebody quotes in one line. */

/** Matches the codes of a reply. Some programs write the reply code twice. */
const REPLY = /^([2-5]\d\d)(?:[ :-]+(?:\1[ -]+)?([245]\.\d{1,3}\.\d{1,3}(?![\d.]))?|$)/;
/** Matches an enhanced code without a reply code. */
const STATUS_ALONE = /^#?([245]\.\d{1,3}\.\d{1,3})(?![\d.])/;

/** Returns the codes of a reply; null for one that it does not have. */
export function readReplyCodes(text: string): { code: number | null; enhanced: string | null } {
  const [, digits, enhanced] = REPLY.exec(text) ?? [];
  if (digits !== undefined) return { code: Number(digits), enhanced: enhanced ?? null };
  return { code: null, enhanced: STATUS_ALONE.exec(text)?.[1] ?? null };
}

/** Matches the reply that old Postfix quotes behind the name of the server: `host mx.example[192.0.2.1] said: 550 No such user`. */
const SAID = /\bsaid:? ([2-5]\d\d[ -].*)$/;
/** Matches the reply that Cisco quotes behind words of its own, which know less: `5.1.0 - Unknown address error 550-'No such user'`. */
const IN_QUOTES = /\b([2-5]\d\d)-'(.*)'/;

/** Returns the reply of the last server in a diagnostic; the whole diagnostic when no other words stand before a reply. */
export function quotedReply(diagnostic: string): string {
  const said = SAID.exec(diagnostic)?.[1];
  if (said !== undefined) return said;
  const [, code, text] = IN_QUOTES.exec(diagnostic) ?? [];
  return code === undefined ? diagnostic : `${code} ${text}`;
}
