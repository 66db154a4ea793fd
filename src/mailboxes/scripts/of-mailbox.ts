/** Finds the scripts that run when mail is delivered to a mailbox. */
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { Tx } from '../../db/operation.ts';
import type { WatchedTable } from '../../db/table-changes.ts';
import { findFilterScript } from '../filters/store.ts';
import { type NamedScript, namedScript } from './named-script.ts';
import { findActiveScript } from './store.ts';

/** The scripts of a mailbox in the order in which they run: that of its filters, and the active one of its owner. */
export type MailboxScripts = {
  scripts: readonly NamedScript[];
  /** False when none of them refuses a message, by itself or by one that it includes. */
  mayRefuse: boolean;
};

/** The tables that the scripts come from. */
export const SCRIPT_TABLES = ['mailboxFilters', 'mailboxScripts'] as const satisfies readonly WatchedTable[];

/** Name of the script of the filters in reports of its failure: its owner has not written a script. */
const FILTERS = 'filters of the mailbox';
const MAY_REFUSE = /reject|include/i;

/** Returns the scripts of a mailbox. One without any stores its mail without running one. */
export async function scriptsOf(tx: Tx, id: MailboxRow['id']): Promise<MailboxScripts> {
  const filters = await findFilterScript(tx, id);
  const active = await findActiveScript(tx, id);
  const scripts = [
    ...(filters === undefined ? [] : [namedScript(FILTERS, filters)]),
    ...(active ? [namedScript(active.name, active.content)] : []),
  ];
  return { scripts, mayRefuse: scripts.some(({ content }) => MAY_REFUSE.test(content)) };
}

/** Returns the number of characters of the scripts. */
export function sizeOfScripts({ scripts }: MailboxScripts): number {
  return scripts.reduce((sum, { content }) => sum + content.length, 0);
}
