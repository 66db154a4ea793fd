/**
 * Reads the caller's own header fields. Names are reserved when another field of the request sets the header, when
 * receivers trust it, or when this service writes it.
 */

import { readEach } from '../../http/json/read-fields.ts';
import { findFieldProblem } from '../../mail/message/repair/custom-field.ts';
import { isTlsOptional, TLS_REQUIRED_FIELD } from '../../mail/tls-policy/tls-wish.ts';
import { invalid } from '../../system/errors.ts';
import type { EmailType } from '../schemas.ts';

export type HeaderField = { name: string; value: string };

/** Reserved names. All of `Content-*` is reserved too, because such a field could change how the message is read. */
const RESERVED: ReadonlySet<string> = new Set([
  ...['from', 'to', 'cc', 'bcc', 'reply-to', 'sender', 'subject', 'date', 'message-id', 'return-path'],
  ...['received', 'mime-version', 'dkim-signature', 'domainkey-signature', 'received-spf'],
  ...['authentication-results', 'x-authentication-results'],
  // Receivers and their delivery agents write these fields to record the recipient of a message; some filters and mail
  // clients trust them.
  ...['apparently-to', 'delivered-to', 'envelope-to', 'x-original-to'],
  // The receiver writes `BIMI-Indicator` once it has verified the logo. `BIMI-Selector` is free: it belongs to the author
  // of the message, who chooses one of the logos that the sending domain publishes.
  'bimi-indicator',
  ...['feedback-id', 'x-mailer', 'x-originating-ip'],
]);
const RESERVED_FAMILIES = ['arc-', 'cfbl-', 'content-', 'resent-', 'x-service-'] as const;
/** Names that are reserved only on broadcasts, where this service writes them so that readers can unsubscribe. */
const RESERVED_ON_BROADCASTS = { names: ['precedence'], families: ['list-'] } as const;

/** Allowed names. They fit on one line with a word behind them (RFC 5322 section 2.1.1). */
const NAME = /^[!-9;-~]{1,126}$/;
const MAX_HEADERS_BYTES = 16 * 1024;

/**
 * Returns the header fields of a request.
 * @throws AppError validation_error naming the header, for example `headers.X-Campaign`, or `headers` for an invalid
 * name
 */
export function readHeaders(
  headers: Readonly<Record<string, string>> | undefined,
  type: EmailType,
): HeaderField[] {
  const seen = new Set<string>();
  let bytes = 0;
  return readEach(Object.entries(headers ?? {}), ([name, value]) => {
    if (!NAME.test(name))
      throw invalid('headers', 'A header name must be 1 to 126 printable ASCII characters without a colon');
    const path = `headers.${name}`;
    const key = name.toLowerCase();
    if (isReserved(key, type))
      throw invalid(path, `The header \`${name}\` is reserved: this service or the receiver writes it`);
    if (seen.has(key)) throw invalid(path, `The header \`${name}\` is given twice`);
    seen.add(key);
    bytes += name.length + Buffer.byteLength(value);
    if (bytes > MAX_HEADERS_BYTES) throw invalid('headers', '`headers` must be at most 16 KiB in total');
    if (key === TLS_REQUIRED_FIELD && !isTlsOptional(value))
      throw invalid(path, `\`${path}\` must be \`No\`, the only value that RFC 8689 gives it`);
    const problem = findFieldProblem(name, value);
    if (problem) throw invalid(path, `\`${path}\` ${problem}`);
    return { name, value };
  });
}

/** Returns the value of a header field; undefined when the request has none of this name, which is in lower case. */
export function findHeader(headers: readonly HeaderField[], key: string): string | undefined {
  return headers.find(({ name }) => name.toLowerCase() === key)?.value;
}

function isReserved(key: string, type: EmailType): boolean {
  if (RESERVED.has(key) || RESERVED_FAMILIES.some((family) => key.startsWith(family))) return true;
  if (type !== 'broadcast') return false;
  const { names, families } = RESERVED_ON_BROADCASTS;
  return names.some((name) => name === key) || families.some((family) => key.startsWith(family));
}
