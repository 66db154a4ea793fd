/** Stores the texts of messages. All SQL of the table `contents` is here. */

import { sql } from 'kysely';
import type { ContentRow } from '../../db/email-tables.ts';
import type { Tx } from '../../db/operation.ts';
import { findColumns, insertNumbered } from '../../db/rows.ts';
import { type Param, statement } from '../../db/statement.ts';
import { type NewSource, type PackedSource, packSmall } from './source.ts';

/** Stores a content as part of a write and returns its id. Messages of the same write or of later ones name it. */
export async function insertContent(
  tx: Tx,
  tenantId: ContentRow['tenantId'],
  source: NewSource,
): Promise<ContentRow['id']> {
  return insertNumbered(tx, 'contents', { tenantId, ...packSmall(source) });
}

/** Returns a content, or undefined when it was deleted. */
export function findContent(tx: Tx, id: ContentRow['id']): Promise<PackedSource | undefined> {
  return findColumns(tx, 'contents', { select: ['sizeBytes', 'sha256', 'source'], where: { id } });
}

const deleteUnused = statement((db, param: Param<Pick<ContentRow, 'id'>>) =>
  db
    .deleteFrom('contents')
    .where('id', '=', param('id'))
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('messages').select('id').where('contentId', '=', param('id')))),
    )
    // A broadcast that is being sent makes further copies of its content.
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('broadcastRuns')
            .select('broadcastId')
            .where('contentId', '=', param('id'))
            .where(sql<boolean>`"endedAt" IS NULL`),
        ),
      ),
    ),
);

/** Deletes a content as part of a write, unless another message still names it. */
export async function deleteUnusedContent(tx: Tx, id: ContentRow['id']): Promise<void> {
  await deleteUnused.all(tx, { id });
}
