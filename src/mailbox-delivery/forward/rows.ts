/** The parts of rows that all mail of this installation itself has in common. */
import type { NewRecipient } from '../../queue/store.ts';
import { INSTALLATION_TENANT } from '../../tenants/installation.ts';

/** Columns of a message without a sender among the tenants. */
export const OF_INSTALLATION = { tenantId: INSTALLATION_TENANT, mode: 'live' } as const;

/** Returns the recipient with this address. By default it waits in the queue of the installation. */
export function newRecipient(address: string, scheduledFor?: string): NewRecipient {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return { field: 'to', address, domain, suppressed: null, scheduledFor };
}
