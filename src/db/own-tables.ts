/** The data dictionary, continued: tables in which the database stores facts about itself. */

/** Written by db/writer-database.ts. Each start writes one row, which proves that the disk accepts writes. */
export type StartRow = { at: number };

/** Written by db/installation/store.ts. The table has one row. */
export type InstallationRow = {
  /** The data directory carries the same id in `installation.json`. */
  id: string;
  /**
   * Grows with every start, every minute while the daemon runs, and with every stop. An older copy of the database has
   * a lower one.
   */
  generation: number;
  /** Wall time that the daemon stored last. */
  wallAt: number;
  /** A known text that is sealed with the master key. Null until the first start has made the key. */
  canary: string | null;
  /**
   * Time until which files that no row names are kept, because this database may be the wrong one. Null when they are
   * not kept.
   */
  keepFilesUntil: number | null;
};

/** Written by db/migrate.ts. */
export type MigrationRow = { id: string; appliedAt: number };

/** Written by domains/installation/store.ts: the key that signs mail of the installation itself. */
export type InstallationKeyRow = {
  selector: string;
  publicKey: string;
  privateKeySealed: string;
  createdAt: number;
};
