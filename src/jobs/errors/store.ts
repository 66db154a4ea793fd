/** Stores the rows of a file that a job rejected. All SQL of this table is here, and nothing else writes it. */

import type { JobErrorRow, JobRow } from '../../db/marketing-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { insertRow } from '../../db/rows.ts';
import { constant, type Param, statement } from '../../db/statement.ts';

export type RowError = Pick<JobErrorRow, 'line' | 'email' | 'message'>;

/** Maximum number of errors that are stored for one file. More errors usually have one cause. */
export const MAX_ERRORS = 10_000;
/**
 * Maximum length of the address of an error. An address has at most 254 octets, but the cell may contain anything.
 */
const MAX_EMAIL_CHARACTERS = 254;
/** Maximum length of the message of an error, which may quote long headings. */
const MAX_MESSAGE_CHARACTERS = 500;

/** Stores errors, as part of a write. `stored` is the number of errors that the job had before. */
export async function insertErrors(
  tx: Tx,
  { id, tenantId }: Pick<JobRow, 'id' | 'tenantId'>,
  { errors, stored }: { errors: readonly RowError[]; stored: number },
): Promise<void> {
  for (const { line, email, message } of errors.slice(0, Math.max(MAX_ERRORS - stored, 0))) {
    await insertRow(tx, 'jobErrors', {
      jobId: id,
      tenantId,
      line,
      email: cut(email, MAX_EMAIL_CHARACTERS),
      message: cut(message, MAX_MESSAGE_CHARACTERS),
    });
  }
}

/** Returns the text cut to the length, without half of a surrogate pair at the end. */
function cut(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : text.slice(0, maxCharacters).toWellFormed();
}

type ErrorPage = { jobId: JobRow['id']; afterLine: number; limit: number };

const errorsAfter = statement((db, param: Param<ErrorPage>) =>
  db
    .selectFrom('jobErrors')
    .select(['line', 'email', 'message'])
    .where('jobId', '=', constant(param('jobId')))
    .where('line', '>', constant(param('afterLine')))
    .orderBy('line')
    .limit(constant(param('limit'))),
);

/** Returns a page of the errors in the order of the file. The caller has checked that the job belongs to the tenant. */
export function listErrors(tx: Tx, page: ErrorPage): Promise<RowError[]> {
  return errorsAfter.all(tx, page);
}

/** Maximum number of errors that one write removes, since other writes wait for it. */
const REMOVED_ERRORS = 1_000;

/** Removes as many errors of a job as one write may. Returns true when none is left. */
export async function removeErrors(tx: Tx, jobId: JobRow['id']): Promise<boolean> {
  const errors = await listErrors(tx, { jobId, afterLine: 0, limit: REMOVED_ERRORS });
  const last = errors.at(-1);
  if (last)
    await tx.deleteFrom('jobErrors').where('jobId', '=', jobId).where('line', '<=', last.line).execute();
  return errors.length < REMOVED_ERRORS;
}
