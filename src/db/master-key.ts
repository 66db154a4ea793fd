/**
 * Checks that the master key is the one this database was sealed with. The first start seals a known text, the canary,
 * and each later start opens it: with the wrong key no secret of the database could be read.
 */
import { join } from 'node:path';
import { sql } from 'kysely';
import { createSealer, loadMasterKey, type Sealer, WrongKeyError } from '../system/seal.ts';
import type { Db } from './database.ts';
import { storeCanary } from './installation/store.ts';
import type { Tx } from './operation.ts';

const CANARY = 'Postrider';

/**
 * Opens the master key of the data directory, or makes it for a database that has nothing sealed yet.
 * @throws MissingKeyError, WrongKeyError
 */
export async function openSealer(db: Db, directory: string): Promise<Sealer> {
  const { id, canary } = db.installation;
  const context = ['installation', id];
  const secret = canary ?? (await findSealedSecret(db.read));
  const sealer = createSealer(loadMasterKey(directory, secret !== undefined));
  if (secret !== undefined && !sealer.hasSealed(secret)) throw wrongKey(directory);
  if (canary === null) await db.commit(storeCanary, { canary: sealer.seal(CANARY, context) });
  else requireCanary(sealer, canary, { context, directory });
  return sealer;
}

function requireCanary(
  sealer: Sealer,
  canary: string,
  { context, directory }: { context: readonly string[]; directory: string },
): void {
  try {
    sealer.open(canary, context);
  } catch (error) {
    throw wrongKey(directory, error);
  }
}

function wrongKey(directory: string, cause?: unknown): WrongKeyError {
  const file = join(directory, 'master.key');
  return new WrongKeyError(
    `${file} is not the key that ${join(directory, 'postrider.db')} was created with: restore that key; without it no secret of the database can be read`,
    { cause },
  );
}

/** Finds any sealed secret of a database that was made before there was a canary. Names of sealed columns end so. */
async function findSealedSecret(db: Tx): Promise<string | undefined> {
  const columns = await sql<{ tableName: string; columnName: string }>`
    SELECT tables.name AS tableName, columns.name AS columnName
      FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
     WHERE tables.type = 'table' AND columns.name GLOB '*Sealed'`.execute(db);
  for (const { tableName, columnName } of columns.rows) {
    const column = sql.ref(columnName);
    const found = await sql<{ secret: string }>`
      SELECT ${column} AS secret FROM ${sql.table(tableName)} WHERE ${column} IS NOT NULL LIMIT 1`.execute(
      db,
    );
    if (found.rows[0]) return found.rows[0].secret;
  }
  return undefined;
}
