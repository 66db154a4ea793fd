/** Reads messages of all tenants, for the operator: envelopes alone, never subjects or content. */
import type { Tx } from '../../db/operation.ts';
import type { MessageRow, Mode } from '../../db/tables.ts';

export type ListedMessage = Pick<
  MessageRow,
  'id' | 'tenantId' | 'mode' | 'kind' | 'status' | 'sender' | 'createdAt' | 'lastEventAt'
>;

const COLUMNS = [
  ...(['messages.id', 'messages.tenantId', 'messages.mode', 'messages.kind', 'messages.status'] as const),
  ...(['messages.sender', 'messages.createdAt', 'messages.lastEventAt'] as const),
] as const;

const MODES: readonly Mode[] = ['live', 'test'];

type Search = { tenantIds: readonly MessageRow['tenantId'][]; address: string; limit: number };

/** Returns the newest messages of all tenants. */
export function listNewestMessages(tx: Tx, limit: number): Promise<ListedMessage[]> {
  return tx.selectFrom('messages').select(COLUMNS).orderBy('messages.id', 'desc').limit(limit).execute();
}

/** Returns the newest messages of some tenants; with an address, those that it is a recipient of. */
export async function listMessagesOf(
  tx: Tx,
  { tenantIds, address, limit }: Search,
): Promise<ListedMessage[]> {
  const found: ListedMessage[] = [];
  for (const tenantId of tenantIds)
    for (const mode of MODES)
      found.push(...(await (address === '' ? ofTenant : ofAddress)(tx, { tenantId, mode, address, limit })));
  return found.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit);
}

type OfTenant = Pick<MessageRow, 'tenantId' | 'mode'> & Pick<Search, 'address' | 'limit'>;

/** The emails of a tenant have an index in the order of their ids; its messages have none. */
function ofTenant(tx: Tx, { tenantId, mode, limit }: OfTenant): Promise<ListedMessage[]> {
  return tx
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .select(COLUMNS)
    .where('emails.tenantId', '=', tenantId)
    .where('emails.mode', '=', mode)
    .orderBy('emails.id', 'desc')
    .limit(limit)
    .execute();
}

function ofAddress(tx: Tx, { tenantId, mode, address, limit }: OfTenant): Promise<ListedMessage[]> {
  return tx
    .selectFrom('emailAddresses')
    .innerJoin('messages', 'messages.id', 'emailAddresses.emailId')
    .select(COLUMNS)
    .where('emailAddresses.tenantId', '=', tenantId)
    .where('emailAddresses.mode', '=', mode)
    .where('emailAddresses.address', '=', address)
    .orderBy('emailAddresses.emailId', 'desc')
    .limit(limit)
    .execute();
}
