import type { Migration } from '../../db/migration.ts';

/**
 * Removes an index that no query uses: the modseqs of an open folder are in memory. Each change of a flag cost two changes of the
 * index, which was most of the time of a STORE.
 */
export const noIndexOfModseqs: Migration = {
  id: '0002-no-index-of-modseqs',
  sql: 'DROP INDEX messagesByModseq;',
};
