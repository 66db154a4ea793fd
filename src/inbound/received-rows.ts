/** The rows of a received message, before the write that accepts it. */
import type { ReceivedMessageRow, ReceivedRecipientRow } from '../db/inbound-tables.ts';
import type { Authentication } from './authentication.ts';
import type { NewTask } from './tasks/store.ts';

/** A message for one tenant, or for the installation. */
export type ReceivedRows = {
  message: ReceivedMessageRow;
  recipients: ReceivedRecipientRow[];
  tasks: NewTask[];
  results: Authentication;
};

/** Returns the addresses of recipients, each once: an address with a mailbox and a route is stored once for each of them. */
export function addressesOf(recipients: readonly { address: string }[]): string[] {
  return [...new Set(recipients.map(({ address }) => address))];
}
