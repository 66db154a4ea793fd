/**
 * The tenant of mail that the installation itself sends: mail that is forwarded and reports. It lets the queue, its fairness and
 * its metrics treat this mail like that of any tenant. It is no tenant for anybody else: it has no API keys, no domains and no
 * plan of its own, and it is not listed.
 */
import type { TenantRow } from '../db/tenant-tables.ts';

/** Id of the tenant. A new database has its row (db/main-schema.ts). */
export const INSTALLATION_TENANT: TenantRow['id'] = 'ten_00000000000000000000000000';
