/** The data dictionary, continued: tables in which the database stores facts about itself. */
import { integer, nullable, type Row, table, text } from './table.ts';

/** Written by db/writer-database.ts. Each start writes one row, which proves that the disk accepts writes. */
export const starts = table({ at: integer() });
export type StartRow = Row<typeof starts>;

/** Written by db/installation/store.ts. The table has one row. */
export const installation = table({
  /** The data directory carries the same id in `installation.json`. */
  id: text(),
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

/** Written by db/migrate.ts. */
export const migrations = table({ id: text(), appliedAt: integer() });
export type MigrationRow = Row<typeof migrations>;

/** Written by domains/installation/store.ts: the key that signs mail of the installation itself. */
export const installationKeys = table({
  selector: text(),
  publicKey: text(),
  privateKeySealed: text(),
  createdAt: integer(),
});
export type InstallationKeyRow = Row<typeof installationKeys>;
