/**
 * The certificates of the daemon while it runs: read at the start, read again when their files change, and shown in
 * metrics and in the log before they expire. Connections keep the certificate that they began with.
 */

import type { FastifyInstance } from 'fastify';
import type { App } from '../app.ts';
import type { OperatorRecord } from '../domains/operator-records.ts';
import {
  type CertificatePair,
  type CertificateStore,
  createCertificateStore,
} from '../system/certificates.ts';
import { type Clock, DAY_MS } from '../system/clock.ts';
import { periodic, startWork } from '../system/worker.ts';
import { type Challenges, createChallenges } from './acme/challenges.ts';
import { logFields } from './certificate.ts';
import { CertificateSet, type Listed } from './certificate-set.ts';
import { type CertificateStatus, showCertificates, tlsaRecords } from './show.ts';

/** Shows the certificates to the operator, with a running daemon or without one. */
export type CertificateAdmin = {
  list(): Promise<CertificateStatus[]>;
  /** Reads all files now, and returns the list afterwards. */
  reload(): Promise<CertificateStatus[]>;
  /** Returns the records that publish the keys of the hostname. */
  records(): Promise<OperatorRecord[]>;
};

export type Certificates = CertificateAdmin & {
  /** Certificates for listeners. */
  store: CertificateStore;
  /** Answers to challenges of an authority, which the listeners on port 80 and for HTTPS give. */
  challenges: Challenges;
  /** Keeps another store, such as that of a thread, like this one from now on, and returns the certificates for it. */
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
  app: Pick<App, 'clock' | 'config' | 'log' | 'metrics' | 'wakeups'>,
): Promise<Certificates & AsyncDisposable> {
  const set = new CertificateSet(app);
  await set.read();
  await set.keepSelfSigned();
  const store = createCertificateStore(set.certificates);
  const stores = new Set<Pick<CertificateStore, 'replace' | 'renewTicketKey'>>([store]);
  const replaceIf = (hasChanged: boolean): void => {
    if (hasChanged) for (const one of stores) one.replace(set.certificates);
  };
  showExpiryInMetrics(app, set);
  const look = periodic(app.clock, {
    name: 'certificate files',
    periodMs: LOOK_PERIOD_MS,
    run: async () => replaceIf(await set.readChanged()),
  });
  const renewTicketKey = daily(app.clock, () => {
    for (const one of stores) one.renewTicketKey();
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
  const works = [startWork(app, care), ...(set.hasSources ? [startWork(app, look)] : [])];
  return {
    store,
    challenges: createChallenges(),
    follow(other) {
      stores.add(other);
      return set.certificates;
    },
    list: async () => showCertificates(set.list()),
    async reload() {
      replaceIf(await set.read());
      return showCertificates(set.list());
    },
    records: async () => tlsaRecords(app.config.hostname, set.certificates),
    [Symbol.asyncDispose]: async () => {
      await Promise.all(works.map((work) => work.stop(0)));
    },
  };
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
export function inspectCertificates(app: Pick<App, 'clock' | 'config'>): CertificateAdmin {
  async function read(): Promise<CertificateSet> {
    const set = new CertificateSet({ ...app, log: NO_LOG });
    await set.read();
    set.findSelfSigned();
    return set;
  }
  const list = async () => showCertificates((await read()).list());
  return {
    list,
    reload: list,
    records: async () => tlsaRecords(app.config.hostname, (await read()).certificates),
  };
}

const NO_LOG = { info() {}, warn() {}, error() {} };

/** Registers `GET /certificates` and `POST /certificates/reload` on the server of the control socket. */
export function registerCertificateAdmin(
  server: FastifyInstance,
  { certificates }: { certificates: CertificateAdmin },
): void {
  server.get('/certificates', () => certificates.list());
  server.post('/certificates/reload', () => certificates.reload());
}

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
function showExpiryInMetrics({ clock, metrics }: Pick<App, 'clock' | 'metrics'>, set: CertificateSet): void {
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
