/** Decides who sent a report. Anybody can write a report, so one without a proven sender is not accepted (RFC 8460 section 3). */
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
