/** Waits for the certificate of the host name, which the daemon orders. */
import type { CertificateStatus } from '../../certificates/show.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, findingsOf } from '../../doctor/check.ts';
import { realClock, sleepInForeground } from '../../system/clock.ts';
import { readAllPages } from '../context.ts';
import type { ControlClient } from '../control-client.ts';

const { ok, warn, fail } = findingsOf('certificate');

/** Maximum time for which an order is waited for, in milliseconds. An authority takes some seconds. */
const MAX_ORDER_MS = 120_000;
const PAUSE_MS = 500;

type Ordering = { control: Pick<ControlClient, 'request'>; config: Config; waitMs: number };

/** Returns whether mail programs trust the certificate of the host name. An order that failed before is tried again. */
export async function awaitCertificate({ control, config, waitMs }: Ordering): Promise<Finding[]> {
  const hostname = config.hostname.toLowerCase();
  if (config.acme.directory === '') return [await judgeFiles(control, hostname)];
  const until = realClock.elapsed() + Math.min(waitMs, MAX_ORDER_MS);
  let asked: string | undefined;
  for (;;) {
    const order = await findOrder(control, hostname);
    if (isValid(order)) return [ok(hostname, `its certificate is valid until ${order?.expiresAt}`)];
    // The daemon waits with its first attempt, or one from before the records were published has failed.
    if (order && asked === undefined) {
      await orderMissing(control);
      asked = order.order?.lastErrorAt ?? 'never';
    }
    const error = order?.order?.lastErrorAt === asked ? undefined : order?.order?.lastError;
    if (asked !== undefined && error)
      return [fail(hostname, `no certificate: ${error}`, `${RENEW} ${hostname}`)];
    if (realClock.elapsed() + PAUSE_MS > until)
      return [
        warn(
          hostname,
          'its certificate is not there yet',
          'the daemon orders it by itself: postrider certificates list',
        ),
      ];
    await sleepInForeground(PAUSE_MS);
  }
}

const RENEW = 'mend what the error names; the daemon tries again, or at once: postrider certificates renew';

/** Has the daemon order the certificates of the operator's names that have none, now that their records are there. */
async function orderMissing(control: Ordering['control']): Promise<void> {
  for (const status of await listCertificates(control)) {
    const { order } = status;
    if (order?.tenantId === null && !isValid(status))
      await control.request('POST', `/certificates/${order.name}/renew`);
  }
}

async function findOrder(
  control: Ordering['control'],
  hostname: string,
): Promise<CertificateStatus | undefined> {
  const listed = await listCertificates(control, { name: hostname });
  return listed.find(({ order }) => order?.name === hostname);
}

function isValid(status: CertificateStatus | undefined): boolean {
  return Boolean(status?.expiresAt && Date.parse(status.expiresAt) > realClock.now());
}

/** Certificates of files are of the operator's making. */
async function judgeFiles(control: Ordering['control'], hostname: string): Promise<Finding> {
  const listed = await listCertificates(control);
  const own = listed.find(({ kind, names }) => kind !== 'self_signed' && names !== null);
  if (own) return ok(hostname, `its certificate is valid until ${own.expiresAt}`);
  return warn(
    hostname,
    'its certificate is self-signed, so mail programs refuse it',
    'set acme.directory or tls.certificates',
  );
}

function listCertificates(
  control: Ordering['control'],
  query: Record<string, string> = {},
): Promise<CertificateStatus[]> {
  return readAllPages(control, { request: 'GET /certificates', name: 'certificates', query });
}
