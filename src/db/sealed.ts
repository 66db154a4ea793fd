/** Whether anything in the database is sealed with the master key, and so is lost without it. */
import type { Tx } from './operation.ts';

export async function holdsSealedSecrets(db: Tx): Promise<boolean> {
  const domain = await db.selectFrom('domains').select('id').limit(1).executeTakeFirst();
  if (domain) return true;
  const endpoint = await db.selectFrom('webhookEndpoints').select('id').limit(1).executeTakeFirst();
  return endpoint !== undefined;
}
