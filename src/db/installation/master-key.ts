/**
 * Checks that the master key is the one this database was sealed with. The first start seals a known text, the canary,
 * and each later start opens it: with the wrong key no mail could be signed and no webhook posted.
 */
import { join } from 'node:path';
import { createSealer, loadMasterKey, type Sealer, WrongKeyError } from '../../system/seal.ts';
import type { Db } from '../database.ts';
import type { Tx } from '../operation.ts';
import { storeCanary } from './store.ts';

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

/** Finds any sealed secret of a database that was made before there was a canary. */
async function findSealedSecret(db: Tx): Promise<string | undefined> {
  const domain = await db.selectFrom('domains').select('privateKeySealed').limit(1).executeTakeFirst();
  if (domain) return domain.privateKeySealed;
  const endpoint = await db.selectFrom('webhookEndpoints').select('secretSealed').limit(1).executeTakeFirst();
  if (endpoint) return endpoint.secretSealed;
  const route = await db.selectFrom('inboundRoutes').select('secretSealed').limit(1).executeTakeFirst();
  return route?.secretSealed;
}
