/** Checks that the certificates in use are valid for long enough, and that their files can be used. */
import type { CertificateStatus } from '../../certificates/show.ts';
import { DAY_MS } from '../../system/clock.ts';
import { type Check, type Finding, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('certificates');

/** Minimum time for which a certificate is still valid, in days. Renewal has long been due then. */
const MIN_DAYS = 14;

export const certificates: Check = {
  name: 'certificates',
  isForProduction: true,
  async run({ certificates: store, clock }) {
    const listed = await store.list();
    // Names of tenants are without number, and what their DNS says is not the operator's to mend.
    const own = listed.filter(({ order }) => order === null || order.tenantId === null);
    return own.map(({ kind, certificate: file, names, keyType, expiresAt, problem, order }) => {
      // A name may have a certificate for each type of key, unless it is ordered.
      const name = order?.name ?? names?.[0] ?? file ?? kind;
      const subject = order || keyType === null ? name : `${name} (${keyType})`;
      const renew = 'renew it, and look at "postrider certificates list"';
      if (problem) return fail(subject, `${problem.file} ${problem.reason}`, renew);
      if (order) return judgeOrder(order, { subject, expiresAt, now: clock.now() });
      if (kind === 'self_signed')
        return warn(
          subject,
          'the certificate is self-signed, so mail programs refuse it',
          'set acme.directory or tls.certificates',
        );
      const daysLeft = Math.floor((Date.parse(expiresAt ?? '') - clock.now()) / DAY_MS);
      if (daysLeft < 0) return fail(subject, `the certificate expired on ${expiresAt}`, renew);
      if (daysLeft < MIN_DAYS) return warn(subject, `the certificate expires on ${expiresAt}`, renew);
      return ok(subject, `the certificate is valid until ${expiresAt}`);
    });
  },
};

type Order = NonNullable<CertificateStatus['order']>;
type Shown = { subject: string; expiresAt: string | null; now: number };

/** Judges a certificate by ACME. Its authority decides how long it lives, so only a renewal that fails makes its end a concern. */
function judgeOrder(
  { failures, lastError, nextAttemptAt }: Order,
  { subject, expiresAt, now }: Shown,
): Finding {
  const look = `mend what the error names, then "postrider certificates renew ${subject}"`;
  const isValid = expiresAt !== null && Date.parse(expiresAt) > now;
  if (lastError === null)
    return ok(
      subject,
      isValid ? `the certificate is valid until ${expiresAt}` : 'the certificate is being ordered',
    );
  const next = `the next attempt is at ${nextAttemptAt ?? 'the next start'}`;
  if (!isValid && failures === 0)
    return warn(
      subject,
      `no certificate is ordered yet, because ${lastError}; ${next}`,
      'publish what "postrider domain records" prints; the daemon looks again by itself',
    );
  if (isValid) return warn(subject, `the renewal failed, ${next}: ${lastError}`, look);
  return fail(subject, `there is no valid certificate, ${next}: ${lastError}`, look);
}
