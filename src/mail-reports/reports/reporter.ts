/** Decides who sent a report. Anybody can write a report, so one without a proven sender is not accepted (RFC 8460 section 3). */
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import type { AuthenticationResult } from '../../mail/auth/result.ts';

/** Returns the domain that stands for a report: by DMARC, or else by a signature; undefined when nothing proves one. */
export function reporterOf({
  dmarc,
  dkim,
}: Pick<AuthenticationResult, 'dmarc' | 'dkim'>): string | undefined {
  if (dmarc.result === 'pass') return dmarc.domain;
  const signature = dkim.find(({ result, domain }) => result === 'pass' && domain !== '');
  return signature?.domain;
}

/**
 * Returns the domain that stands for the report in a stored message. The author of mail that was written on this machine is known: it
 * is the installation, or a tenant, and these send from no other domain than one that they have verified.
 */
export function storedReporterOf({
  auth,
  headerFrom,
}: Pick<ReceivedMessageRow, 'auth' | 'headerFrom'>): string | undefined {
  if (auth !== null) return reporterOf(JSON.parse(auth) as AuthenticationResult);
  return headerFrom?.slice(headerFrom.lastIndexOf('@') + 1).toLowerCase();
}
