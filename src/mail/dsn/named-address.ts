/**
 * Finds the addresses on a line of a bounce that is written for people, and how the line names each: as a failed recipient, in
 * passing, or as somebody else.
 */

/**
 * How a line names an address, the surest first. `lead`: the line begins with the address. `field`: words such as `RCPT TO:` stand before
 * it. `mention`: the line says that something failed. `to`: the line repeats the header of the message. `other`: anything else.
 */
export const NAMINGS = ['lead', 'field', 'mention', 'to', 'other'] as const;
type Naming = (typeof NAMINGS)[number];

export type NamedAddress = {
  address: string;
  naming: Naming;
  /** The words of the line about the address, without the address when the line begins with it. */
  rest: string;
};

/** Maximum length of the part of a line that is read, and of addresses on it. */
const MAX_LINE_CHARACTERS = 1_000;
const MAX_ADDRESSES = 20;
/** Maximum lengths of a local part and of a domain (RFC 5321 section 4.5.3.1), and the part of a line before an address that matters. */
const MAX_PART_CHARACTERS = 255;
const MAX_BEFORE_CHARACTERS = 120;

const LOCAL_CHARACTER = /[A-Za-z0-9!#$%&'*+/=?^_`{|}~.\u0080-\uffff-]/;
const DOMAIN_CHARACTER = /[A-Za-z0-9.\u0080-\uffff-]/;

/** Matches marks, quotes and a reply code, after which an address begins its line. */
const LEAD = /^[\s>*+•·"'<([=-]*(?:[245]\d\d[ -](?:[245]\.\d{1,3}\.\d{1,3})?[\s:]*)?["'<([]*$/;
const REPLY_CODE = /[245]\d\d[ -][^@]*$/;
const RCPT = /rcpt to:/i;
/** Matches words before an address that is a failed recipient. */
const FIELD =
  /(?:rcpt to|recipients?(?: address(?:es)?)?|(?:original|failed|destination) address|error-for|userid|addressed to|(?:user )?unknown (?:user|recipient|address)|user unknown|no such (?:user|recipient|address|mailbox)|(?:invalid|bad|rejected) (?:user|recipient|address)|(?:mailbox|account)(?: is)? (?:full|disabled|unavailable|inactive)|(?:over ?quota|quota exceeded)(?: for)?|deliver(?:ed|y|ing)?(?: (?:a |the |your )?(?:message|e?-?mail))? to)[\s:=<"'([]*(?:(?:smtp|rfc822)[:;]\s*)?$/i;
/** Matches words before an address that is somebody else, or an identifier. */
const SOMEBODY_ELSE =
  /(?:\bfrom|sender|reply-to|return-path|contact|help(?: at)?|message-?id|references|in-reply-to|cc|mailto|https?:\S*)[\s:=<"'([]*$/i;
const TO = /^\s*to[\s:=<"'([]*$/i;
/** Matches what follows the author of a quotation. */
const WROTE = /^[\s>)"']*(?:wrote|writes|schrieb|a écrit|escribió)\b/i;

/**
 * Returns the addresses on a line in their order, each once.
 *
 * @param saysFailure whether a line says that something failed
 */
export function findNamedAddresses(text: string, saysFailure: (line: string) => boolean): NamedAddress[] {
  if (!text.includes('@')) return [];
  const line = text.slice(0, MAX_LINE_CHARACTERS);
  const found = new Map<string, NamedAddress>();
  let last: Naming | undefined;
  for (const { start, end } of spansOf(line)) {
    const address = line.slice(start, end);
    const before = line.slice(0, start);
    // A list of addresses is named by what stands before its first one.
    const naming =
      last !== undefined && isListed(line, start) ? last : namingOf(line, { before, end, saysFailure });
    last = naming;
    const rest = restOf(line, { start, end, naming });
    if (!found.has(address)) found.set(address, { address, naming, rest });
  }
  return [...found.values()];
}

function restOf(
  line: string,
  { start, end, naming }: { start: number; end: number; naming: Naming },
): string {
  if (naming !== 'lead') return RCPT.test(line) ? line.slice(end) : line;
  const code = REPLY_CODE.exec(line.slice(Math.max(0, start - MAX_BEFORE_CHARACTERS), start))?.[0] ?? '';
  return code === '' ? line.slice(end) : line.slice(start - code.length);
}

function isListed(line: string, start: number): boolean {
  return /@[^@\s]*[\s>"']*[,;][\s<"']*$/.test(line.slice(Math.max(0, start - MAX_BEFORE_CHARACTERS), start));
}

type Place = { before: string; end: number; saysFailure: (line: string) => boolean };

function namingOf(line: string, { before, end, saysFailure }: Place): Naming {
  const near = before.slice(-MAX_BEFORE_CHARACTERS);
  if (WROTE.test(line.slice(end))) return 'other';
  if (LEAD.test(near) && near.length === before.length) return 'lead';
  if (FIELD.test(near)) return 'field';
  if (TO.test(before)) return 'to';
  if (SOMEBODY_ELSE.test(near)) return 'other';
  return saysFailure(line) ? 'mention' : 'other';
}

/** Returns where the addresses stand. The time is linear in the length of the line. */
function spansOf(line: string): { start: number; end: number }[] {
  const spans: { start: number; end: number }[] = [];
  let free = 0;
  for (let at = line.indexOf('@'); at >= 0 && spans.length < MAX_ADDRESSES; at = line.indexOf('@', at + 1)) {
    const start = startOf(line, at, free);
    const end = endOf(line, at + 1);
    if (start === at || !/[^.]\.[^.]/.test(line.slice(at + 1, end))) continue;
    spans.push({ start, end });
    free = end;
  }
  return spans;
}

/** Returns the start of the local part before the `@`. A quotation mark before the `@` ends a quoted one. */
function startOf(line: string, at: number, free: number): number {
  if (line[at - 1] === '"') {
    const quote = line.lastIndexOf('"', at - 2);
    return quote < free || at - quote > MAX_PART_CHARACTERS ? at : quote;
  }
  let start = at;
  while (start > free && at - start < MAX_PART_CHARACTERS && LOCAL_CHARACTER.test(line.charAt(start - 1)))
    start--;
  // A quotation mark or a sign before an address is no part of it.
  while (start < at && /['=*`]/.test(line.charAt(start))) start++;
  return start;
}

function endOf(line: string, from: number): number {
  let end = from;
  while (end < line.length && end - from < MAX_PART_CHARACTERS && DOMAIN_CHARACTER.test(line.charAt(end)))
    end++;
  while (end > from && /[.-]/.test(line.charAt(end - 1))) end--;
  return end;
}
