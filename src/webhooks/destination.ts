/** Which URLs may be posted to on behalf of a tenant: those of webhook endpoints, and the destinations of inbound routes. */
import { invalid } from '../system/errors.ts';

/** Longest URL accepted; what browsers and proxies commonly bear (RFC 9110 4.1 asks for at least 8000 of receivers). */
export const MAX_URL_CHARACTERS = 2_048;

/**
 * Ports on which mail speaks: SMTP, POP3, IMAP and submission, with and without TLS (RFC 8314), and 2525, the common
 * stand-in for 587. A post must not talk to a mail server, this one least of all (security.md 2.26).
 */
const MAIL_PORTS: readonly string[] = ['25', '110', '143', '465', '587', '993', '995', '2525'];

/**
 * Addresses are judged when a connection is opened, not here: what a name resolves to today says nothing of tomorrow.
 *
 * @param field which the refusal blames
 * @throws AppError validation_error
 */
export function checkDestination(field: string, text: string, { allowHttp }: { allowHttp: boolean }): void {
  const url = /[\s\p{Cc}]/u.test(text) || !/^https?:\/\//i.test(text) ? null : URL.parse(text);
  if (!url || !text.isWellFormed()) {
    throw invalid(field, `\`${field}\` must be an absolute URL such as https://example.com/webhooks`);
  }
  if (url.protocol !== 'https:' && !allowHttp) throw invalid(field, `\`${field}\` must start with https://`);
  if (url.username !== '' || url.password !== '') {
    throw invalid(field, `\`${field}\` must not hold a user name or password; every post is signed instead`);
  }
  if (text.includes('#')) throw invalid(field, `\`${field}\` must not have a fragment`);
  if (MAIL_PORTS.includes(url.port)) {
    throw invalid(field, `\`${field}\` must not use port ${url.port}, a mail port`);
  }
}
