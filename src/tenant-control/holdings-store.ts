/** Counts what a tenant owns, for the operator who is about to delete it and who watches the deletion. */
import { defineRead, type Tx } from '../db/operation.ts';
import { countRows, countRowsUpTo } from '../db/rows.ts';
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

type Counted = {
  tenantId: TenantRow['id'];
  /** With it, each number is at most one more than it. */
  maximum?: number | undefined;
};

/** Counts what a tenant owns. It runs on a reader thread, because there may be millions of rows. */
export const countHoldings = defineRead(
  'tenantControl.countHoldings',
  async (tx: Tx, { tenantId, maximum }: Counted): Promise<Holdings> => {
    const where = { tenantId };
    const count = (table: keyof Holdings) =>
      maximum === undefined ? countRows(tx, table, where) : countRowsUpTo(tx, table, { where, maximum });
    return {
      domains: await count('domains'),
      apiKeys: await count('apiKeys'),
      mailboxes: await count('mailboxes'),
      messages: await count('messages'),
      receivedMessages: await count('receivedMessages'),
      contacts: await count('contacts'),
      broadcasts: await count('broadcasts'),
      suppressions: await count('suppressions'),
    };
  },
);
