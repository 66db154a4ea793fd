/** The parts of rows that all mail of this installation itself has in common. */
import { STORED_MESSAGE } from '../../queue/contents/stored-message.ts';
import type { NewRecipient } from '../../queue/store.ts';
import { INSTALLATION_TENANT } from '../../tenants/installation.ts';

/** Columns of a message without a sender among the tenants. */
export const OWN_MESSAGE = {
  ...STORED_MESSAGE,
  tenantId: INSTALLATION_TENANT,
  mode: 'live',
  domainId: null,
  complaintHost: null,
  mailboxId: null,
  dsn: null,
} as const;

/** Returns the recipient with this address. By default it waits in the queue of the installation. */
export function newRecipient(address: string, scheduledFor?: string): NewRecipient {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase();
  return { field: 'to', address, domain, suppressed: null, scheduledFor };
}
