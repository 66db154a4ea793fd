/**
 * The certificates of the daemon while it runs: read at the start, read again when their files change or an authority has
 * issued another one, and shown in metrics and in the log before they expire. Connections keep the certificate that they began
 * with.
 */

import type { App } from '../app.ts';
import type { OperatorRecord } from '../domains/operator-records.ts';
import {
  type CertificatePair,
  type CertificateStore,
  createCertificateStore,
} from '../system/certificates.ts';
import { type Clock, DAY_MS } from '../system/clock.ts';
import { periodic, startWork } from '../system/worker.ts';
import { createChallenges, type OfferedChallenges } from './acme/challenges.ts';
import { type Ordered, type OrderedApp, OrderedCertificates } from './acme/ordered.ts';
import { listAccountRecords } from './acme/records.ts';
import { type Certificate, isNearEnd, logFields } from './certificate.ts';
import { CertificateSet, type Listed } from './certificate-set.ts';
import { type CertificateStatus, showCertificates, tlsaRecords } from './show.ts';

/** Shows the certificates to the operator, with a running daemon or without one. */
export type CertificateAdmin = {
  list(): Promise<CertificateStatus[]>;
  /** Reads all files now, and returns the list afterwards. */
  reload(): Promise<CertificateStatus[]>;
  /** Returns the records that publish the keys of the hostname, and the account that may order its certificates. */
  records(): Promise<OperatorRecord[]>;
};

export type Certificates = CertificateAdmin & {
  /** Certificates for listeners. */
  store: CertificateStore;
  /** Answers to challenges of an authority, which the listeners on port 80 and for HTTPS give. */
  challenges: OfferedChallenges;
  /** Returns the names whose certificate by ACME is stored, but cannot be used. */
  listUnusable(): readonly string[];
  /** Returns true when a certificate of the configuration is in use for a name. */
  isConfigured(name: string): boolean;
  /**
   * Keeps another store, such as that of a thread, like this one from now on, and returns the certificates for it: those of the
   * operator's names, by which mail programs connect.
   */
  follow(store: Pick<CertificateStore, 'replace' | 'renewTicketKey'>): readonly CertificatePair[];
};

/**
 * Time between two checks of the files, in milliseconds. A check finds what notifications of the file system miss: links
 * that lead elsewhere, and network file systems.
 */
const LOOK_PERIOD_MS = 10_000;

/**
 * Opens the certificates of the configuration, or makes self-signed ones when none of these can be used. Disposing ends
 * the looks at the files; the store stays usable.
 * @throws the error of the file system when self-signed certificates cannot be kept in the data directory
 */
export async function openCertificates(
  app: Pick<App, 'clock' | 'config' | 'log' | 'metrics' | 'wakeups'> & OrderedApp,
): Promise<Certificates & AsyncDisposable> {
  const ordered = await OrderedCertificates.open(app);
  const set = new CertificateSet(app, ordered);
  await set.read();
  await set.keepSelfSigned();
  const store = createCertificateStore(set.certificates);
  const followers = new Set<Pick<CertificateStore, 'replace' | 'renewTicketKey'>>();
  const replaceIf = (hasChanged: boolean): void => {
    if (!hasChanged) return;
    store.replace(set.certificates);
    for (const one of followers) one.replace(set.operatorCertificates);
  };
  showExpiryInMetrics(app, set);
  const look = periodic(app.clock, {
    name: 'certificate files',
    periodMs: LOOK_PERIOD_MS,
    run: async () => replaceIf(await set.readChanged()),
  });
  const renewTicketKey = daily(app.clock, () => {
    for (const one of [store, ...followers]) one.renewTicketKey();
  });
  const care = periodic(app.clock, {
    name: 'certificate expiry',
    periodMs: DAY_MS,
    async run() {
      renewTicketKey();
      replaceIf(await set.keepSelfSigned());
      logExpiry(app, set.list());
    },
  });
  const stopFollowing = followOrders(app, async (names) => {
    if (!(await ordered.reload(names))) return;
    await set.keepSelfSigned();
    replaceIf(true);
  });
  const loaded = ordered
    .loadTenants()
    .then(replaceIf, (err: unknown) => app.log.error({ err }, 'certificates of tenants were not read'));
  const works = [startWork(app, care), ...(set.hasSources ? [startWork(app, look)] : [])];
  return {
    store,
    challenges: createChallenges(),
    listUnusable: () => ordered.unusable,
    isConfigured: (name) => set.isConfigured(name),
    follow(other) {
      followers.add(other);
      return set.operatorCertificates;
    },
    list: async () => showCertificates(set.list()),
    async reload() {
      replaceIf(await set.read());
      return showCertificates(set.list());
    },
    records: async () => [
      ...tlsaRecords(app.config.hostname, set.certificates),
      ...(await listAccountRecords(app)),
    ],
    [Symbol.asyncDispose]: async () => {
      stopFollowing();
      await loaded;
      await Promise.all(works.map((work) => work.stop(0)));
    },
  };
}

/** Calls `run` with the names whose certificates or orders have changed, one call after the other. Returns the function that ends this. */
function followOrders(
  { wakeups, log }: Pick<App, 'log' | 'wakeups'>,
  run: (names: readonly string[]) => Promise<void>,
): () => void {
  let last: Promise<void> = Promise.resolve();
  return wakeups.listen('certificates', (names = []) => {
    last = last
      .then(() => run(names))
      .catch((err: unknown) => log.error({ err }, 'certificates were not read again'));
  });
}

/** Returns a function that runs `run` unless a day has not passed since the last time, or since now. */
function daily(clock: Pick<Clock, 'elapsed'>, run: () => void): () => void {
  let lastAt = clock.elapsed();
  return () => {
    if (clock.elapsed() - lastAt < DAY_MS) return;
    lastAt = clock.elapsed();
    run();
  };
}

/** Returns what the operator sees while no daemon runs: the files as they are. Nothing is made and nothing is logged. */
export function inspectCertificates(app: Pick<App, 'clock' | 'config'> & OrderedApp): CertificateAdmin {
  async function read(): Promise<CertificateSet> {
    const ordered = await OrderedCertificates.open(app);
    await ordered.loadTenants();
    const set = new CertificateSet({ ...app, log: NO_LOG }, ordered);
    await set.read();
    set.findSelfSigned();
    return set;
  }
  const list = async () => showCertificates((await read()).list());
  return {
    list,
    reload: list,
    records: async () => [
      ...tlsaRecords(app.config.hostname, (await read()).certificates),
      ...(await listAccountRecords(app)),
    ],
  };
}

const NO_LOG = { info() {}, warn() {}, error() {} };

/** Logs each certificate in use that has expired or is near its end. */
export function logExpiry({ clock, log }: Pick<App, 'clock' | 'log'>, listed: readonly Listed[]): void {
  const now = clock.now();
  for (const one of listed) {
    const { certificate } = one;
    if (!certificate) continue;
    const daysLeft = Math.floor((certificate.expiresAt - now) / DAY_MS);
    const origin = one.kind === 'acme' ? { error: one.order.lastError } : { file: one.files.certificate };
    const fields = { ...origin, ...logFields(certificate), daysLeft };
    if (certificate.expiresAt <= now) log.error(fields, 'certificate has expired');
    else if (isRenewalLate(one, certificate, now)) log.warn(fields, 'certificate expires soon');
  }
}

/** The authority decides when a certificate by ACME is renewed, so its end is a concern only once its renewal has failed. */
function isRenewalLate(one: Listed, certificate: Certificate, now: number): boolean {
  return isNearEnd(certificate, now) && (one.kind !== 'acme' || one.order.failures > 0);
}

/** Adds the metrics of the certificates in use, and of those whose files cannot be used. */
function showExpiryInMetrics({ clock, metrics }: Pick<App, 'clock' | 'metrics'>, set: CertificateSet): void {
  metrics.gauges('certificate_expiry_seconds', 'Time until the certificate expires.', {
    labels: ['name', 'key_type'],
    // Names of tenants are without number, so they are only counted.
    read: () =>
      set.operatorCertificates.map(({ names: [name = ''], keyType, expiresAt }) => ({
        labels: { name, key_type: keyType },
        value: (expiresAt - clock.now()) / 1_000,
      })),
  });
  metrics.gauges(
    'certificate_lifetime_seconds',
    'Time from the start of the validity of the certificate to its end.',
    {
      labels: ['name', 'key_type'],
      read: () =>
        set.operatorCertificates.map(({ names: [name = ''], keyType, validFrom, expiresAt }) => ({
          labels: { name, key_type: keyType },
          value: (expiresAt - validFrom) / 1_000,
        })),
    },
  );
  metrics.gauge(
    'certificates_unusable',
    'Certificates of the configuration whose files cannot be used.',
    () => set.list().filter((one) => one.kind !== 'acme' && one.problem !== undefined).length,
  );
  metrics.gauges(
    'certificates_by_acme',
    'Names that certificates are ordered for, by the state of their order.',
    {
      labels: ['state'],
      read: () => {
        const orders = set.list().flatMap((one) => (one.kind === 'acme' ? [one.order] : []));
        const count = (state: string, isOf: (order: Ordered) => boolean) => ({
          labels: { state },
          value: orders.filter(isOf).length,
        });
        return [
          count(
            'issued',
            ({ certificate }) => certificate !== undefined && certificate.expiresAt > clock.now(),
          ),
          count(
            'missing',
            ({ certificate }) => certificate === undefined || certificate.expiresAt <= clock.now(),
          ),
          count('failing', ({ failures }) => failures > 0),
        ];
      },
    },
  );
}
