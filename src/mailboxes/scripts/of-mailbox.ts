/** Finds the scripts that run when mail is delivered to a mailbox. */
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { findFilterScript } from '../filters/store.ts';
import type { NamedScript } from './script-job.ts';
import { findActiveScript } from './store.ts';

/** Name of the script of the filters in reports of its failure: its owner has not written a script. */
const FILTERS = 'filters of the mailbox';

/**
 * Returns the scripts in the order in which they run: that of the filters, and the active one of the owner. A mailbox without any stores
 * its mail without running one.
 */
export async function scriptsOf(tx: Tx, { id }: Pick<MailboxRow, 'id'>): Promise<NamedScript[]> {
  const filters = await findFilterScript(tx, id);
  const active = await findActiveScript(tx, id);
  return [
    ...(filters === undefined ? [] : [{ name: FILTERS, content: filters }]),
    ...(active ? [{ name: active.name, content: active.content }] : []),
  ];
}
