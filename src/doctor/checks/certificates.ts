/** Checks that the certificates in use are valid for long enough, and that their files can be used. */
import { isNearEnd } from '../../certificates/certificate.ts';
import type { CertificateStatus } from '../../certificates/show.ts';
import { type Check, type Finding, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('certificates');

/** Maximum number of names of tenants that a finding names, each of another tenant. */
const MAX_NAMED = 3;

export const certificates: Check = {
  name: 'certificates',
  isForProduction: true,
  async run({ certificates: store, clock }) {
    const listed = await store.list();
    const own = listed.filter(({ order }) => order === null || order.tenantId === null);
    const judged = own.map((one) => {
      const { kind, certificate: file, names, keyType, validFrom, expiresAt, problem, order } = one;
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
      const life = { validFrom: Date.parse(validFrom ?? ''), expiresAt: Date.parse(expiresAt ?? '') };
      if (life.expiresAt < clock.now())
        return fail(subject, `the certificate expired on ${expiresAt}`, renew);
      if (isNearEnd(life, clock.now()))
        return warn(subject, `the certificate expires on ${expiresAt}`, renew);
      return ok(subject, `the certificate is valid until ${expiresAt}`);
    });
    return [...judged, ...judgeTenants(listed)];
  },
};

type Order = NonNullable<CertificateStatus['order']>;
/**
 * Sums up the orders of tenants' names that the authority refuses. Names are without number, so they share one finding, and a tenant
 * with many of them is named once. Names whose DNS does not lead here are their tenants' to mend, and are left out.
 */
function judgeTenants(listed: readonly CertificateStatus[]): Finding[] {
  const failed = listed.flatMap(({ order }) =>
    order !== null && order.tenantId !== null && order.failures > 0 ? [order] : [],
  );
  if (failed.length === 0) return [];
  const byTenant = Map.groupBy(failed, ({ tenantId }) => tenantId);
  const named = [...byTenant.values()]
    .slice(0, MAX_NAMED)
    .map(([first]) => `${first?.name}: ${first?.lastError}`);
  return [
    warn(
      'names of tenants',
      `orders fail for ${failed.length} (${named.join('; ')})`,
      'look at "postrider certificates list"; each is tried again by itself',
    ),
  ];
}

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
