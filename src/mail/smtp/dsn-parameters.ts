/**
 * The parameters by which a client says what it wants to be told about its message (RFC 3461). They are kept as the text that a
 * server passes on: `RET=HDRS ENVID=QQ314159` of MAIL, and `NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;bob@example.org` of RCPT.
 */
import { isAscii } from 'node:buffer';
import { formatTypedAddress } from '../dsn/notice.ts';

/** Maximum lengths of an ENVID and of an ORCPT (RFC 3461 sections 4.4 and 4.2). */
const MAX_ENVELOPE_ID_CHARACTERS = 100;
const MAX_ORIGINAL_RECIPIENT_CHARACTERS = 500;
/** Text in which `+`, `=` and what is not printable ASCII stand as `+` and two digits (RFC 3461 section 4). */
const XTEXT = /^(?:[!-*,-<>-~]|\+[0-9A-F]{2})+$/;
const ORIGINAL_RECIPIENT = /^[A-Za-z0-9-]{1,40};/;
/**
 * Text of an address in UTF-8, in which `+`, `=`, the backslash and what is no printable ASCII may stand as `\x{…}` with its code point
 * (RFC 6533 section 3).
 */
const UNITEXT = /^(?:[!-*,-<>-[\]-~\u0080-\u{10ffff}]|\\x\{(?:[0-9A-F]{2,5}|10[0-9A-F]{4})\})+$/u;
const UTF8_TYPE = /^utf-8;$/i;

const NOTIFY = /(^| )NOTIFY=(\S+)/;
const ORCPT = /(?:^| )ORCPT=(\S+)/;

/** A notification about a recipient that a client can ask for. */
export type Notification = 'SUCCESS' | 'FAILURE' | 'DELAY';
const NOTIFICATIONS: readonly string[] = ['SUCCESS', 'FAILURE', 'DELAY'] satisfies Notification[];
/** Notifications that are sent when the client asks for none (RFC 3461 section 4.1). */
const DEFAULT_NOTIFICATIONS: readonly Notification[] = ['FAILURE', 'DELAY'];

/** Returns a parameter of MAIL in the form in which it is kept; undefined when it is malformed. */
export function readMessageParameter(
  keyword: 'RET' | 'ENVID',
  value: string | undefined,
): string | undefined {
  const given = value ?? '';
  if (keyword === 'ENVID')
    return XTEXT.test(given) && given.length <= MAX_ENVELOPE_ID_CHARACTERS ? `ENVID=${given}` : undefined;
  const returned = given.toUpperCase();
  return returned === 'FULL' || returned === 'HDRS' ? `RET=${returned}` : undefined;
}

/** Returns a parameter of RCPT in the form in which it is kept; undefined when it is malformed. */
export function readRecipientParameter(
  keyword: 'NOTIFY' | 'ORCPT',
  value: string | undefined,
): string | undefined {
  const given = value ?? '';
  if (keyword === 'NOTIFY') {
    const asked = given.toUpperCase().split(',');
    const isValid =
      given.toUpperCase() === 'NEVER' || asked.every((keyword) => NOTIFICATIONS.includes(keyword));
    return isValid ? `NOTIFY=${[...new Set(asked)].join(',')}` : undefined;
  }
  const [type = ''] = ORIGINAL_RECIPIENT.exec(given) ?? [];
  const text = given.slice(type.length);
  if (type === '' || given.length > MAX_ORIGINAL_RECIPIENT_CHARACTERS) return undefined;
  if (XTEXT.test(text)) return `ORCPT=${given}`;
  // The form in ASCII goes to every server, and into every report (RFC 6533 section 3).
  return UTF8_TYPE.test(type) && UNITEXT.test(text) ? `ORCPT=${type}${embedded(text)}` : undefined;
}

/** Returns a text in which each character that is not ASCII stands as its code point. */
function embedded(text: string): string {
  return text.replace(
    /[\u0080-\u{10ffff}]/gu,
    (character) => `\\x{${character.codePointAt(0)?.toString(16).toUpperCase()}}`,
  );
}

/** Returns true when the sender is told this about a recipient with these parameters. */
export function wantsNotification(parameters: string | null, notification: Notification): boolean {
  const [, , asked] = NOTIFY.exec(parameters ?? '') ?? [];
  if (asked === undefined) return DEFAULT_NOTIFICATIONS.includes(notification);
  return asked.split(',').includes(notification);
}

/** Returns true when a client says itself what the sender is told about a recipient, in place of what is usual. */
export function asksForNotifications(parameters: string | null): boolean {
  return NOTIFY.test(parameters ?? '');
}

/** Returns parameters of RCPT by which nobody is told of a delivery. A client that asks for nothing else is told nothing. */
export function withoutSuccess(parameters: string | null): string | null {
  return (
    parameters?.replace(NOTIFY, (_, before: string, asked: string) => {
      const kept = asked.split(',').filter((notification) => notification !== 'SUCCESS');
      return `${before}NOTIFY=${kept.length === 0 ? 'NEVER' : kept.join(',')}`;
    }) ?? null
  );
}

/**
 * Returns parameters of RCPT that name the recipient whom the client wrote to (RFC 3461 section 5.2.1), so that the sender recognises the
 * address in reports about mail that was sent on. A client that gave no parameters gets none.
 */
export function withOriginalRecipient(parameters: string | null, address: string): string | null {
  if (parameters === null || ORCPT.test(parameters)) return parameters;
  const typed = isAscii(Buffer.from(address))
    ? `rfc822;${encoded(address)}`
    : formatTypedAddress(address).replace('; ', ';');
  const original = readRecipientParameter('ORCPT', typed);
  return original === undefined ? parameters : `${parameters} ${original}`;
}

/** Returns parameters of MAIL that do not ask for a whole message (RFC 3461 section 4.3); null when nothing else is left. */
export function withoutWholeMessage(parameters: string | null): string | null {
  const kept = parameters?.split(' ').filter((parameter) => parameter !== 'RET=FULL') ?? [];
  return kept.length === 0 ? null : kept.join(' ');
}

/** Returns true when the client wants a message back that could not be delivered, and not its header alone (RFC 3461 section 4.3). */
export function wantsWholeMessage(parameters: string | null): boolean {
  return /(?:^| )RET=FULL(?: |$)/.test(parameters ?? '');
}

/** Returns the name that the client gave its message, decoded; undefined when it gave none. */
export function envelopeIdOf(parameters: string | null): string | undefined {
  return decoded(/(?:^| )ENVID=(\S+)/.exec(parameters ?? '')?.[1]);
}

/** Returns the address that the sender wrote first, with its type, such as `rfc822;bob@example.org`, decoded. */
export function originalRecipientOf(parameters: string | null): string | undefined {
  return decoded(ORCPT.exec(parameters ?? '')?.[1]);
}

/** Returns an ASCII address as xtext (RFC 3461 section 4). */
function encoded(address: string): string {
  return address.replace(
    /[^!-*,-<>-~]/g,
    (character) => `+${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** Octets that are not printable become question marks, since they stand in a header field. */
function decoded(xtext: string | undefined): string | undefined {
  return xtext
    ?.replace(/\+([0-9A-F]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/[^ -~]/g, '?');
}
