/** The data dictionary, continued: tables in which the database keeps what it needs to know of itself. */

/** Written by db/writer-thread.ts: the one write of each start, which proves the disk takes writes. */
export type StartRow = { at: number };

/** Written by db/installation/store.ts: one row. */
export type InstallationRow = {
  /** The data directory carries the same id in `installation.json`. */
  id: string;
  /** Grows with every start, every minute while the daemon runs, and with every stop: a copy of the database has an older one. */
  generation: number;
  /** Wall time the daemon stored last. */
  wallAt: number;
  /** A known text, sealed with the master key. Null until the first start has made the key. */
  canary: string | null;
  /** Until when files that no row names are kept, because this database may be the wrong one. Null: they are not. */
  keepFilesUntil: number | null;
};

/** Written by db/migrate.ts. */
export type MigrationRow = { id: string; appliedAt: number };
