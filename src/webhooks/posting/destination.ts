/** Checks URLs that are posted to on behalf of a tenant: webhook endpoints, and the destinations of inbound routes. */
import { invalid } from '../../system/errors.ts';

/**
 * Maximum length of a URL that browsers and proxies commonly support (RFC 9110 section 4.1 recommends at least 8000 octets).
 */
export const MAX_URL_CHARACTERS = 2_048;

/**
 * Ports of mail servers: SMTP, POP3, IMAP and submission, with and without TLS (RFC 8314), and 2525, a common
 * alternative to 587. A post must not reach a mail server, least of all this one.
 */
const MAIL_PORTS: readonly string[] = ['25', '110', '143', '465', '587', '993', '995', '2525'];

/**
 * Checks a destination. Its addresses are checked when a connection is opened, because DNS may change.
 *
 * @param field names the field in the error
 * @throws AppError validation_error
 */
export function checkDestination(field: string, text: string, { allowHttp }: { allowHttp: boolean }): void {
  const url = /[\s\p{Cc}]/u.test(text) || !/^https?:\/\//i.test(text) ? null : URL.parse(text);
  if (!url || !text.isWellFormed()) {
    throw invalid(field, `\`${field}\` must be an absolute URL such as https://example.com/webhooks`);
  }
  if (url.protocol !== 'https:' && !allowHttp)
    throw invalid(
      field,
      `\`${field}\` must start with https://; the operator can allow http:// with the setting webhooks.allowHttp`,
    );
  if (url.username !== '' || url.password !== '') {
    throw invalid(field, `\`${field}\` must not hold a user name or password; every post is signed instead`);
  }
  if (text.includes('#')) throw invalid(field, `\`${field}\` must not have a fragment`);
  if (MAIL_PORTS.includes(url.port)) {
    throw invalid(field, `\`${field}\` must not use port ${url.port}, a mail port`);
  }
}
