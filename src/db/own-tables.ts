/** The data dictionary, continued: facts that the database stores about itself, and background work. */
import { clusteredTable, count, id, integer, key, nullable, type Row, table, text } from './table.ts';

/** Written by db/writer-database.ts. Each start writes one row, which proves that the disk accepts writes. */
export const starts = table({ at: integer() });
export type StartRow = Row<typeof starts>;

/** Written by db/installation/store.ts. The table has one row. */
export const installation = table({
  /** The data directory carries the same id in `installation.json`. */
  id: key(text()),
  /**
   * Grows with every start, every minute while the daemon runs, and with every stop. An older copy of the database has
   * a lower one.
   */
  generation: integer(),
  /** Wall time that the daemon stored last. */
  wallAt: integer(),
  /** A known text that is sealed with the master key. Null until the first start has made the key. */
  canary: nullable(text()),
  /**
   * Time until which files that no row names are kept, because this database may be the wrong one. Null when they are
   * not kept.
   */
  keepFilesUntil: nullable(integer()),
  /** Time at which the data directory was restored from a backup, until the operator releases what leaves it. */
  restoredAt: nullable(integer()),
});
export type InstallationRow = Row<typeof installation>;

/** Written by domains/installation/store.ts: the key that signs mail of the installation itself. */
export const installationKeys = clusteredTable({
  selector: key(text()),
  publicKey: text(),
  privateKeySealed: text(),
  createdAt: integer(),
});
export type InstallationKeyRow = Row<typeof installationKeys>;

/** Written by doctor/store.ts: a finding of the hourly checks that is not well. */
export const doctorFindings = clusteredTable({
  checkName: key(text()),
  /** The thing that the finding is about, such as a domain. */
  subject: key(text()),
  level: text<'warn' | 'fail'>(),
  says: text(),
  advice: text(),
  /** Time of the first run that made the finding with this level. */
  since: integer(),
});
export type DoctorFindingRow = Row<typeof doctorFindings>;

/** Written by doctor/store.ts: a check that was carried out, about which the operator was told by mail, or that is silenced. */
export const doctorChecks = clusteredTable({
  name: key(text()),
  mailedAt: nullable(integer()),
  silencedAt: nullable(integer()),
  /** Time of the last hourly run in which the check was carried out. */
  ranAt: nullable(integer()),
});
export type DoctorCheckRow = Row<typeof doctorChecks>;

/** Written by dns-updates/store.ts: a record that was published at the operator's primary name server. */
export const writtenRecords = clusteredTable({
  name: key(text()),
  type: key(text<'A' | 'AAAA' | 'MX' | 'TXT' | 'CNAME' | 'SRV'>()),
  value: key(text()),
});
export type WrittenRecordRow = Row<typeof writtenRecords>;

/** Written by nameserver/store.ts: text records of the zone that are needed for a while, such as proofs for an authority. */
export const zoneTexts = clusteredTable({
  name: key(text()),
  value: key(text()),
  /** Time from which on the record is not answered with any more. */
  expiresAt: integer(),
});

/**
 * Written by tasks/store.ts: one thing that is to be done in the background. A task waits (`dueAt`), is leased (`runId`), or
 * has failed (neither). A leased task with `dueAt` was scheduled anew meanwhile, and waits again when its run has ended.
 */
export const tasks = clusteredTable({
  kind: key(text()),
  /** Id of the row that the task is about. A kind has at most one task for it. */
  reference: key(text()),
  /** Names the queue of the task. Tasks of a queue share its limits, such as those to one endpoint. */
  queueKey: text(),
  /** Owner of the task; null for work of the installation itself. */
  tenantId: nullable(id('ten')),
  dueAt: nullable(integer()),
  /** Number of runs without progress, the present one included. */
  attempts: count(),
  /** Run of the daemon, or of its thread, that has leased the task. */
  runId: nullable(text()),
  /** Why the task has failed. */
  error: nullable(text()),
}).indexedBy({
  tasksByDue: '(kind, queueKey, dueAt) WHERE runId IS NULL AND dueAt IS NOT NULL',
  tasksByRun: '(kind, runId) WHERE runId IS NOT NULL',
  tasksByError: '(kind) WHERE error IS NOT NULL',
});
export type TaskRow = Row<typeof tasks>;

/** Written by certificates/acme/store.ts: the account with each authority that certificates were ever ordered from. */
export const acmeAccounts = clusteredTable({
  /** URL of the directory of the authority. */
  directory: key(text()),
  /** URL of the account; null until the authority has made it. The key is stored first, so that no account is lost. */
  url: nullable(text()),
  /** Name by which CAA records allow the authority; null until the account is made, and when the authority names none. */
  issuer: nullable(text()),
  privateKeySealed: text(),
  createdAt: integer(),
});
export type AcmeAccountRow = Row<typeof acmeAccounts>;

/** Written by certificates/acme/store.ts: one certificate for each name, or the attempts to get one. */
export const acmeCertificates = table({
  name: key(text()),
  /** Tenant that the name belongs to; null for names of the operator. */
  tenantId: nullable(id('ten')),
  /** Directory of the authority that the order is made with. */
  directory: text(),
  /** Key of the chain, and of orders unless there is a next key. It outlives renewals. */
  privateKeySealed: text(),
  /** Key that the next certificate gets instead; null when it keeps the present one. */
  nextKeySealed: nullable(text()),
  /** The certificate with its chain in PEM; null until there is one. */
  chain: nullable(text()),
  /** URL of an order that has not ended; null when there is none. */
  orderUrl: nullable(text()),
  issuedAt: nullable(integer()),
  /** Time at which the certificate is to be renewed; null while there is none. */
  renewAt: nullable(integer()),
  /** Number of attempts since the last certificate that came to nothing. */
  failures: count(),
  lastError: nullable(text()),
  lastErrorAt: nullable(integer()),
  /** Time at which the name is looked at again, for the operator: the task decides. */
  nextAttemptAt: nullable(integer()),
  createdAt: integer(),
});
export type AcmeCertificateRow = Row<typeof acmeCertificates>;

/** Written by certificates/acme/store.ts: orders of the last day for names of tenants, which share a daily limit. */
export const acmeOrders = clusteredTable({
  at: key(integer()),
  name: key(text()),
  tenantId: id('ten'),
});
