/**
 * Records the attempts of delivery, one row each, for people who ask why a delivery ended as it did. All SQL of this
 * table is here.
 */
import type { Tx } from '../../db/operation.ts';
import { type Param, statement } from '../../db/statement.ts';
import type { AttemptRow } from '../../db/tables.ts';

const insertAttemptRow = statement((db, param: Param<AttemptRow>) =>
  db.insertInto('attempts').values({
    id: param('id'),
    recipientId: param('recipientId'),
    messageId: param('messageId'),
    tenantId: param('tenantId'),
    at: param('at'),
    durationMs: param('durationMs'),
    outcome: param('outcome'),
    phase: param('phase'),
    mx: param('mx'),
    address: param('address'),
    tls: param('tls'),
    smtpCode: param('smtpCode'),
    enhancedCode: param('enhancedCode'),
    reply: param('reply'),
  }),
);

/** Stores one attempt to deliver to one recipient, as part of the write that ends the attempt. */
export async function insertAttempt(tx: Tx, attempt: AttemptRow): Promise<void> {
  await insertAttemptRow.all(tx, attempt);
}
