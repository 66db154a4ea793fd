/** Stores what imports could not import. All SQL of the table is here, and nothing else writes it. */

import type { MailboxImportErrorRow } from '../db/mailbox-tables.ts';
import type { Tx } from '../db/operation.ts';
import { putRow } from '../db/rows.ts';
import { constant, type Param, statement } from '../db/statement.ts';

/** A message that was not imported, or a folder where the UID is 0. */
export type MessageError = Pick<MailboxImportErrorRow, 'folder' | 'uid' | 'message'>;

/** A message of which there is an error. */
export type FailedMessage = Pick<MessageError, 'folder' | 'uid'>;

type ImportId = MailboxImportErrorRow['importId'];

/** Maximum number of errors of an import that are stored. More of them usually have one cause. */
const MAX_ERRORS = 1_000;

const counted = statement((db, param: Param<{ importId: ImportId }>) =>
  db
    .selectFrom('mailboxImportErrors')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('importId', '=', param('importId')),
);

/** Stores errors, as part of a write. A folder that fails again in a later run has its latest error. */
export async function insertErrors(
  tx: Tx,
  importId: ImportId,
  errors: readonly MessageError[],
): Promise<void> {
  if (errors.length === 0) return;
  const { count = 0 } = (await counted.first(tx, { importId })) ?? {};
  for (const error of errors.slice(0, Math.max(MAX_ERRORS - count, 0)))
    await putRow(tx, 'mailboxImportErrors', { importId, ...error });
}

const ofImport = statement((db, param: Param<{ importId: ImportId }>) =>
  db
    .selectFrom('mailboxImportErrors')
    .select(['folder', 'uid', 'message'])
    .where('importId', '=', param('importId'))
    .orderBy('folder')
    .orderBy('uid')
    .limit(constant(MAX_ERRORS)),
);

/** Returns the errors of an import by folder and UID. The caller has checked that the import belongs to the tenant. */
export function listErrors(tx: Tx, importId: ImportId): Promise<MessageError[]> {
  return ofImport.all(tx, { importId });
}
