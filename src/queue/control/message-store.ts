/** Reads messages of all tenants, for the operator: envelopes alone, never subjects or content. */

import type { EmailRow } from '../../db/email-tables.ts';
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

/** A part of the list: the newest messages, or those older than one of them. */
type Part = { after: string | undefined; limit: number };
type Search = Part & { tenantIds: readonly MessageRow['tenantId'][]; address: string };

/** An id that is newer than all others, which stands for no position. */
const NEWEST = '~';

/** Returns messages of all tenants, the newest first. */
export function listNewestMessages(tx: Tx, { after = NEWEST, limit }: Part): Promise<ListedMessage[]> {
  return tx
    .selectFrom('messages')
    .select(COLUMNS)
    .where('messages.id', '<', after as MessageRow['id'])
    .orderBy('messages.id', 'desc')
    .limit(limit)
    .execute();
}

/** Returns messages of some tenants, the newest first; with an address, those that it is a recipient of. */
export async function listMessagesOf(
  tx: Tx,
  { tenantIds, address, ...part }: Search,
): Promise<ListedMessage[]> {
  const found: ListedMessage[] = [];
  for (const tenantId of tenantIds)
    for (const mode of MODES)
      found.push(
        ...(await (address === '' ? ofTenant : ofAddress)(tx, { ...part, tenantId, mode, address })),
      );
  return found.sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, part.limit);
}

type OfTenant = Pick<MessageRow, 'tenantId' | 'mode'> & Omit<Search, 'tenantIds'>;

/** The emails of a tenant have an index in the order of their ids; its messages have none. */
function ofTenant(tx: Tx, { tenantId, mode, after = NEWEST, limit }: OfTenant): Promise<ListedMessage[]> {
  return tx
    .selectFrom('emails')
    .innerJoin('messages', 'messages.id', 'emails.id')
    .select(COLUMNS)
    .where('emails.tenantId', '=', tenantId)
    .where('emails.mode', '=', mode)
    .where('emails.id', '<', after as EmailRow['id'])
    .orderBy('emails.id', 'desc')
    .limit(limit)
    .execute();
}

function ofAddress(
  tx: Tx,
  { tenantId, mode, address, after = NEWEST, limit }: OfTenant,
): Promise<ListedMessage[]> {
  return tx
    .selectFrom('emailAddresses')
    .innerJoin('messages', 'messages.id', 'emailAddresses.emailId')
    .select(COLUMNS)
    .where('emailAddresses.tenantId', '=', tenantId)
    .where('emailAddresses.mode', '=', mode)
    .where('emailAddresses.address', '=', address)
    .where('emailAddresses.emailId', '<', after as EmailRow['id'])
    .orderBy('emailAddresses.emailId', 'desc')
    .limit(limit)
    .execute();
}
