/** Reports certificates that expire: once a day in the log, and at all times in the metrics. */
import type { App } from '../app.ts';
import { DAY_MS } from '../system/clock.ts';
import { logFields } from './certificate.ts';
import type { CertificateSet, Listed } from './certificate-set.ts';

/** Time before the end of a certificate from which on the log warns of it, in days. */
const WARNING_DAYS = 14;

/** Logs each certificate in use that has expired or will within 14 days. */
export function logExpiry({ clock, log }: Pick<App, 'clock' | 'log'>, listed: readonly Listed[]): void {
  const now = clock.now();
  for (const { certificate, files } of listed) {
    if (!certificate) continue;
    const daysLeft = Math.floor((certificate.expiresAt - now) / DAY_MS);
    const fields = { file: files.certificate, ...logFields(certificate), daysLeft };
    if (certificate.expiresAt <= now) log.error(fields, 'certificate has expired');
    else if (daysLeft < WARNING_DAYS) log.warn(fields, 'certificate expires soon');
  }
}

/** Adds the metrics of the certificates in use, and of those whose files cannot be used. */
export function showExpiryInMetrics(
  { clock, metrics }: Pick<App, 'clock' | 'metrics'>,
  set: CertificateSet,
): void {
  metrics.gauges('certificate_expiry_seconds', 'Time until the certificate expires.', {
    labels: ['name', 'key_type'],
    read: () =>
      set.certificates.map(({ names: [name = ''], keyType, expiresAt }) => ({
        labels: { name, key_type: keyType },
        value: (expiresAt - clock.now()) / 1_000,
      })),
  });
  metrics.gauge(
    'certificates_unusable',
    'Certificates of the configuration whose files cannot be used.',
    () => set.list().filter(({ problem }) => problem !== undefined).length,
  );
}
