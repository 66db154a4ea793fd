/**
 * Writes the Authentication-Results field (RFC 8601). Domains, selectors and reasons come from strangers, who would like
 * to add results of their own to the field: everything that is not a plain host name stands in quotes, within which
 * nothing can end the value.
 */
import { domainToASCII } from 'node:url';
import type { AuthenticationResult, DkimOutcome, SpfOutcome } from './result.ts';

/** Length at which lines are folded (RFC 5322 section 2.1.1). */
const FOLD_AT_CHARACTERS = 78;
/**
 * Maximum length of a value, the length of the longest domain name with some margin. A longer identity is left out,
 * because a part of it would be another identity.
 */
const MAX_VALUE_CHARACTERS = 260;
/** Maximum length of a reason, which is cut. */
const MAX_REASON_CHARACTERS = 120;

/**
 * Matches a host name, and other values that need no quotes. The first and the last character are letters or digits,
 * and no character has a meaning in the grammar (RFC 8601 section 2.2).
 */
const PLAIN_VALUE = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

/** Names a value, such as `header.d`. Names are our own and never come from a message. */
type Property = readonly [name: string, value: string];

type Method = { name: string; result: string; reason?: string; properties: readonly Property[] };

/**
 * Returns the field with its CRLF. `authservId` is the host name of this installation.
 * @throws RangeError when `authservId` is not a host name
 */
export function formatResultsField(authservId: string, result: AuthenticationResult): string {
  const { spf, heloSpf, dkim, dmarc, arc, bimi, reverseDns } = result;
  const methods: Method[] = [
    spfMethod('smtp.mailfrom', spf),
    spfMethod('smtp.helo', heloSpf),
    ...dkim.map(dkimMethod),
    ...(dkim.length === 0 ? [{ name: 'dkim', result: 'none', properties: [] }] : []),
    {
      name: 'dmarc',
      result: dmarc.result,
      reason: dmarc.reason,
      properties: [
        ['header.from', dmarc.domain],
        ['policy.dmarc', dmarc.policy ?? ''],
      ],
    },
    { name: 'arc', result: arc.result, reason: arc.reason, properties: [] },
    { name: 'bimi', result: bimi.result, properties: [] },
    // An address without a name fails permanently (RFC 8601 section 2.7.3).
    {
      name: 'iprev',
      result: reverseDns.result === 'none' ? 'permerror' : reverseDns.result,
      properties: [['policy.iprev', result.address]],
    },
  ];
  return formatField(authservId, methods.filter(isWorthReporting).map(methodWords));
}

/**
 * Returns the field, with its CRLF, of a message that was written on this machine: submitted by a user, who was authenticated by other
 * means, or made by the installation itself, about which nothing was checked.
 * @throws RangeError when `authservId` is not a host name
 */
export function formatLocalResultsField(
  authservId: string,
  { isSubmitted }: { isSubmitted: boolean },
): string {
  // "none" stands for no result at all (RFC 8601 section 2.2).
  return formatField(authservId, [
    isSubmitted ? ['auth=pass', '(submitted to this installation)'] : ['none'],
  ]);
}

/** ARC and BIMI are left out where there is nothing to say: most messages have neither. */
function isWorthReporting({ name, result }: Method): boolean {
  if (name === 'arc') return result !== 'none';
  return name !== 'bimi' || result === 'pass' || result === 'fail';
}

function spfMethod(identity: string, { result, domain, reason }: SpfOutcome): Method {
  return { name: 'spf', result, reason, properties: [[identity, domain]] };
}

function dkimMethod({ result, domain, selector, algorithm, reason }: DkimOutcome): Method {
  return {
    name: 'dkim',
    result,
    reason,
    properties: [
      ['header.d', domain],
      ['header.s', selector],
      ['header.a', algorithm],
    ],
  };
}

/** Returns the words of one result (RFC 8601 section 2.2: `resinfo`). The lines are folded between them. */
function methodWords({ name, result, reason = '', properties }: Method): string[] {
  const cut = clean(reason).slice(0, MAX_REASON_CHARACTERS);
  const written = properties.map(([property, value]) => [property, formatValue(value)] as const);
  return [
    `${name}=${result}`,
    ...(cut === '' ? [] : [`reason=${quote(cut)}`]),
    ...written.flatMap(([property, value]) => (value === '' ? [] : [`${property}=${value}`])),
  ];
}

/** Returns a value in the grammar of `pvalue`; empty when there is none, or when it is too long. */
function formatValue(value: string): string {
  const text = clean(value);
  if (text.length > MAX_VALUE_CHARACTERS) return '';
  return text === '' || PLAIN_VALUE.test(text) ? text : quote(text);
}

/** Replaces characters that a field cannot hold. A domain in Unicode becomes A-labels (RFC 8616 section 6). */
function clean(text: string): string {
  const ascii = /[\u0080-\uffff]/.test(text) ? domainToASCII(text) || text : text;
  return ascii.replace(/[^ -~]+/g, '?').trim();
}

/** Returns a quoted-string (RFC 5322 section 3.2.4). */
function quote(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** Each result begins a line of its own. */
function formatField(authservId: string, methods: readonly (readonly string[])[]): string {
  if (!PLAIN_VALUE.test(authservId)) throw new RangeError('the authserv-id is not a host name');
  const lines = methods.map(foldWords);
  return `Authentication-Results: ${[authservId, ...lines].join(';\r\n ')}\r\n`;
}

function foldWords(words: readonly string[]): string {
  let text = '';
  let column = 1;
  for (const word of words) {
    const isTooLong = column + word.length + 1 > FOLD_AT_CHARACTERS;
    const separator = text === '' ? '' : isTooLong ? '\r\n ' : ' ';
    text += separator + word;
    column = separator.length > 1 ? 1 + word.length : column + separator.length + word.length;
  }
  return text;
}
