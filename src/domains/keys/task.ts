/** Plans the looks for the keys of a domain (rotation/kind.ts), as part of a write. */
import type { Tx } from '../../db/operation.ts';
import type { DomainRow } from '../../db/tables.ts';
import { scheduleTask } from '../../tasks/store.ts';
import type { DomainKey } from './store.ts';

/** Kind of the tasks that look for the keys of domains. */
export const DOMAIN_KEYS = 'domain-keys';

/** Makes the next look due at `dueAt`, in Unix milliseconds. */
export async function scheduleLook(
  tx: Tx,
  { id: reference, tenantId }: Pick<DomainRow, 'id' | 'tenantId'>,
  dueAt: number | null,
): Promise<void> {
  if (dueAt === null) return;
  await scheduleTask(tx, { kind: DOMAIN_KEYS, reference, queueKey: tenantId, tenantId, dueAt });
}

/** Makes a look due now when a key waits to be seen. */
export async function hastenLook(
  tx: Tx,
  { keys, ...domain }: Pick<DomainRow, 'id' | 'tenantId'> & { keys: readonly DomainKey[] },
  now: number,
): Promise<void> {
  if (keys.some(({ state }) => state === 'waiting')) await scheduleLook(tx, domain, now);
}
