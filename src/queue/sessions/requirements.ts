/**
 * Decides over which sessions mail with requirements may leave. For REQUIRETLS (RFC 8689 section 4.2.1) the name of the host must be
 * authentic, its certificate must be valid for this name, and the server must offer REQUIRETLS. Mail with addresses or header fields in
 * UTF-8 needs a server that offers SMTPUTF8 (RFC 6531 section 3.2). The name of a relay is authentic, because the operator gave it.
 */
import type { SmtpSession } from '../../mail/smtp/client/open.ts';
import type { Claim } from '../claim.ts';

type Requiring = {
  message: Pick<Claim['message'], 'requireTls' | 'utf8'>;
  recipients: readonly Pick<Claim['recipients'][number], 'domain'>[];
};

/**
 * Returns true when the name of the host is authentic, because it is the domain of the recipients itself. Whoever forges DNS can name
 * any other host in an MX record, and neither DNSSEC nor MTA-STS is checked here.
 */
export function isAuthenticName(host: string, { recipients }: Pick<Requiring, 'recipients'>): boolean {
  return recipients.every(({ domain }) => domain.toLowerCase() === host);
}

/** A session with a host, which is one of a relay unless `relay` is null. */
type OpenTo = {
  smtp: Pick<SmtpSession, 'tls' | 'extensions'>;
  peer: { mx: string | null };
  relay: object | null;
};

/** Returns true when the session may carry the mail. */
export function mayCarry({ smtp, peer, relay }: OpenTo, mail: Requiring): boolean {
  if (!understands(smtp, mail)) return false;
  if (mail.message.requireTls === 0) return true;
  if (smtp.tls?.authorized !== true || !smtp.extensions.has('REQUIRETLS')) return false;
  return relay !== null || isAuthenticName(peer.mx ?? '', mail);
}

/** Returns true when the server can take the characters of the mail. */
export function understands(
  { extensions }: Pick<SmtpSession, 'extensions'>,
  { message }: Pick<Requiring, 'message'>,
): boolean {
  return message.utf8 === 0 || extensions.has('SMTPUTF8');
}
