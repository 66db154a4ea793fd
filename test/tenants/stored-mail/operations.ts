/** Writes that do nothing but count stored mail, as the writes of `inbound` do along with their rows. */
import { defineWrite } from '../../../src/db/operation.ts';
import type { TenantRow } from '../../../src/db/tenant-tables.ts';
import { addStoredBytes, subtractStoredBytes } from '../../../src/tenants/stored-mail/store.ts';
import '../../../src/tenants/store.ts';

type Bytes = { tenantId: TenantRow['id']; bytes: number };

export const storeBytes = defineWrite('test.storeBytes', (tx, { tenantId, bytes }: Bytes) =>
  addStoredBytes(tx, tenantId, bytes),
);

export const removeBytes = defineWrite('test.removeBytes', (tx, { tenantId, bytes }: Bytes) =>
  subtractStoredBytes(tx, tenantId, bytes),
);

export const storeThenFail = defineWrite('test.storeThenFail', async (tx, { tenantId, bytes }: Bytes) => {
  await addStoredBytes(tx, tenantId, bytes);
  throw new Error('refused after all');
});
