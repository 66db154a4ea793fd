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
  /** What the finding is about. */
  subject: key(text()),
  level: text<'warn' | 'fail'>(),
  says: text(),
  todo: text(),
  /** Time of the first run that made the finding with this level. */
  since: integer(),
});
export type DoctorFindingRow = Row<typeof doctorFindings>;

/** Written by doctor/store.ts: a check about which the operator was told by mail, or that is silenced. */
export const doctorChecks = clusteredTable({
  name: key(text()),
  mailedAt: nullable(integer()),
  silencedAt: nullable(integer()),
});
export type DoctorCheckRow = Row<typeof doctorChecks>;

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
