/** Reads the codes at the beginning of a reply that somebody quotes in one line. */

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
