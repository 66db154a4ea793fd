/**
 * Decides over which sessions mail with REQUIRETLS may leave (RFC 8689 section 4.2.1). The certificate must be valid for the name of the
 * host, that name must be vouched for, and the server must take the requirement over.
 */
import type { SmtpSession } from '../../mail/smtp/client/open.ts';
import type { Claim } from '../claim.ts';

type Requiring = {
  message: Pick<Claim['message'], 'requireTls'>;
  recipients: readonly Pick<Claim['recipients'][number], 'domain'>[];
};

/**
 * Returns true when the name of the host is as trustworthy as the address of the recipients: it is their domain itself. Whoever
 * forges DNS can name any other host in an MX record, and neither DNSSEC nor MTA-STS says here that it is the right one.
 */
export function isVouchedFor(host: string, { recipients }: Requiring): boolean {
  return recipients.every(({ domain }) => domain.toLowerCase() === host);
}

/** Returns true when the session, with this host, may carry the mail. */
export function mayCarry(
  { tls, extensions }: Pick<SmtpSession, 'tls' | 'extensions'>,
  host: string,
  mail: Requiring,
): boolean {
  if (mail.message.requireTls === 0) return true;
  return tls?.authorized === true && extensions.has('REQUIRETLS') && isVouchedFor(host, mail);
}
