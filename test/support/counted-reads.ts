/** A reading connection to the database of an application, which counts its queries. */
import { join } from 'node:path';
import { openReading } from '../../src/db/connection.ts';
import { kyselyOn } from '../../src/db/dialect.ts';
import type { Tx } from '../../src/db/operation.ts';
import type { Tables } from '../../src/db/tables.ts';

export type CountedReads = {
  read: Tx;
  /** Number of queries so far. */
  readonly queries: number;
  close(): void;
};

/** Opens the connection. The caller closes it before the application. */
export function openCountedReads({ dataDir }: { dataDir: string }): CountedReads {
  const connection = openReading(join(dataDir, 'postrider.db'));
  let queries = 0;
  const read = kyselyOn<Tables>(connection, async (query) => {
    queries += 1;
    return query();
  });
  return {
    read,
    get queries() {
      return queries;
    },
    close: () => void connection.close(),
  };
}
