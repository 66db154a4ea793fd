/** The writes of the tests of quota: `chargeQuota` as the write that accepts emails uses it. */
import { defineWrite } from '../../src/db/operation.ts';
import type { TenantRow } from '../../src/db/tenant-tables.ts';
import { chargeQuota } from '../../src/tenants/quota.ts';
import '../../src/tenants/store.ts';

type Charge = { tenantId: TenantRow['id']; now: number; emails: number };

export const charge = defineWrite('test.charge', (tx, { tenantId, ...input }: Charge) =>
  chargeQuota(tx, tenantId, input),
);

export const chargeThenFail = defineWrite(
  'test.chargeThenFail',
  async (tx, { tenantId, ...input }: Charge) => {
    await chargeQuota(tx, tenantId, input);
    throw new Error('refused after all');
  },
);
