/** Checks that the certificates in use are valid for long enough, and that their files can be used. */
import { DAY_MS } from '../../system/clock.ts';
import { type Check, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('certificates');

/** Minimum time for which a certificate is still valid, in days. Renewal has long been due then. */
const MIN_DAYS = 14;

export const certificates: Check = {
  name: 'certificates',
  async run({ certificates: store, clock }) {
    const listed = await store.list();
    return listed.map(({ kind, certificate: file, names, expiresAt, problem }) => {
      const subject = names?.[0] ?? file;
      const renew = 'renew it, and look at "postrider certificates list"';
      if (problem) return fail(subject, `${problem.file} ${problem.reason}`, renew);
      if (kind === 'self_signed')
        return warn(
          subject,
          'the certificate is self-signed, so mail programs refuse it',
          'set tls.certificates',
        );
      const daysLeft = Math.floor((Date.parse(expiresAt ?? '') - clock.now()) / DAY_MS);
      if (daysLeft < 0) return fail(subject, `the certificate expired on ${expiresAt}`, renew);
      if (daysLeft < MIN_DAYS) return warn(subject, `the certificate expires on ${expiresAt}`, renew);
      return ok(subject, `the certificate is valid until ${expiresAt}`);
    });
  },
};
