/**
 * kill -9 in every step of an order of certificates: after the order has begun, and before and after the commit that stores the certificate.
 * The next life continues the order, so each name costs the authority one order and the installation one account.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CertificateStatus } from '../../src/certificates/show.ts';
import type { CrashPointName } from '../../src/crash-points.ts';
import { startAuthority } from '../support/acme-authority.ts';
import { startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { startDnsServer } from '../support/dns-server.ts';
import type { Result } from './part.ts';
import { requireKill, untilDeath } from './planned-end.ts';

const HOSTNAME = 'mx.postrider.example';
const NAMES = [HOSTNAME, `track.${HOSTNAME}`];
const POINTS: readonly CrashPointName[] = [
  'certificate-order-begun',
  'certificate-settle-before-commit',
  'certificate-settle-after-commit',
];
const LIMIT_MS = 60_000;

export async function killOrders(): Promise<Result> {
  await using authority = await startAuthority();
  await using dns = await startDnsServer(NAMES.map((name) => `${name} A 127.0.0.1`).join('\n'));
  const dataDir = temporaryDirectory('orders');
  const env = {
    POSTRIDER_HOSTNAME: HOSTNAME,
    POSTRIDER_DNS_SERVERS: dns.address,
    POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8',
    POSTRIDER_HTTPS_ENABLED: 'true',
    POSTRIDER_HTTPS_PORT: '0',
    POSTRIDER_HTTPS_REDIRECT_PORT: '0',
    POSTRIDER_ACME_DIRECTORY: authority.directory,
    POSTRIDER_ACME_ACCEPT_TERMS: 'true',
  };
  for (const crashAt of POINTS) {
    const daemon = await startDaemonProcess({ dataDir, env, crashAt });
    const { atPoint } = await untilDeath(daemon, LIMIT_MS);
    await requireKill(daemon);
    if (!atPoint) return { lines: [], faults: [`not reached in time: ${crashAt}`] };
  }
  const daemon = await startDaemonProcess({ dataDir, env });
  const faults = await judge(async () => (await daemon.cli(['certificates', 'list'])) as CertificateStatus[]);
  await daemon.stop();
  if (authority.accounts !== 1) faults.push(`${authority.accounts} accounts were made`);
  const ordered = authority.orders.map(({ identifiers }) => identifiers[0]?.value).toSorted();
  if (ordered.join() !== NAMES.join()) faults.push(`the orders were ${ordered.join(', ')}`);
  return { lines: [`${POINTS.length} kills; ${ordered.length} orders for ${NAMES.length} names`], faults };
}

/** Waits until each name has a certificate. */
async function judge(list: () => Promise<CertificateStatus[]>): Promise<string[]> {
  const until = Date.now() + LIMIT_MS;
  for (;;) {
    const issued = (await list()).filter(({ kind, expiresAt }) => kind === 'acme' && expiresAt !== null);
    if (issued.length === NAMES.length) return [];
    if (Date.now() > until) return [`only ${issued.length} names have a certificate`];
    await delay(100);
  }
}
