/** Counts what a tenant owns, for the operator who is about to delete it and who watches the deletion. */
import { defineRead, type Tx } from '../db/operation.ts';
import { countRows } from '../db/rows.ts';
import type { TenantRow } from '../db/tenant-tables.ts';

/** Numbers of rows. `messages` counts the emails of the API and what people have written that waits. */
export type Holdings = {
  domains: number;
  apiKeys: number;
  mailboxes: number;
  messages: number;
  receivedMessages: number;
  contacts: number;
  broadcasts: number;
  suppressions: number;
};

/** Counts what a tenant owns. It runs on a reader thread, because there may be millions of rows. */
export const countHoldings = defineRead(
  'tenantControl.countHoldings',
  async (tx: Tx, { tenantId }: { tenantId: TenantRow['id'] }): Promise<Holdings> => {
    const of = { tenantId };
    return {
      domains: await countRows(tx, 'domains', of),
      apiKeys: await countRows(tx, 'apiKeys', of),
      mailboxes: await countRows(tx, 'mailboxes', of),
      messages: await countRows(tx, 'messages', of),
      receivedMessages: await countRows(tx, 'receivedMessages', of),
      contacts: await countRows(tx, 'contacts', of),
      broadcasts: await countRows(tx, 'broadcasts', of),
      suppressions: await countRows(tx, 'suppressions', of),
    };
  },
);
