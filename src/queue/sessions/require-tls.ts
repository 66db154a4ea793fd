/**
 * Decides over which sessions mail with REQUIRETLS may leave (RFC 8689 section 4.2.1). The name of the host must be
 * authentic, its certificate must be valid for this name, and the server must offer REQUIRETLS.
 */
import type { SmtpSession } from '../../mail/smtp/client/open.ts';
import type { Claim } from '../claim.ts';

type Requiring = {
  message: Pick<Claim['message'], 'requireTls'>;
  recipients: readonly Pick<Claim['recipients'][number], 'domain'>[];
};

/**
 * Returns true when the name of the host is authentic, because it is the domain of the recipients itself. Whoever forges DNS can name
 * any other host in an MX record, and neither DNSSEC nor MTA-STS is checked here.
 */
export function isAuthenticName(host: string, { recipients }: Requiring): boolean {
  return recipients.every(({ domain }) => domain.toLowerCase() === host);
}

/** Returns true when the session, with this host, may carry the mail. */
export function mayCarry(
  { tls, extensions }: Pick<SmtpSession, 'tls' | 'extensions'>,
  host: string,
  mail: Requiring,
): boolean {
  if (mail.message.requireTls === 0) return true;
  return tls?.authorized === true && extensions.has('REQUIRETLS') && isAuthenticName(host, mail);
}
