/** Records the events of domains whose status has changed, as part of a write. */
import type { Tx } from '../db/operation.ts';
import type { DomainRow } from '../db/tables.ts';
import { type EventType, recordEvent } from '../events/store.ts';
import { newId } from '../system/ids.ts';

/** Records the event of a changed status. Domains belong to both modes, so the endpoints of both get it. */
export async function recordTransition(
  tx: Tx,
  statusBefore: DomainRow['status'],
  {
    id,
    tenantId,
    name,
    status,
    now,
  }: Pick<DomainRow, 'id' | 'tenantId' | 'name' | 'status'> & { now: number },
): Promise<EventType | undefined> {
  const type = status === 'verified' ? 'domain.verified' : status === 'failed' ? 'domain.failed' : undefined;
  if (type === undefined || status === statusBefore) return undefined;
  for (const mode of ['live', 'test'] as const) {
    const data = { domainId: id, name, status };
    await recordEvent(tx, {
      id: newId('evt', now),
      tenantId,
      mode,
      type,
      emailId: null,
      data,
      createdAt: now,
    });
  }
  return type;
}
