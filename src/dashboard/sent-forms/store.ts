/** Stores which forms were sent, so that each runs once, also after a restart. All SQL of this table is here. */
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import { defineWrite } from '../../db/operation.ts';
import type { SentFormRow } from '../../db/people-tables.ts';
import { deleteRows, findRow, insertRow, updateRows } from '../../db/rows.ts';

/** Maximum number of forms that are remembered of a person or of the owner of a mailbox. The oldest one makes room. Our own limit. */
export const MAX_SENT_FORMS = 1_000;

/** Stores a form that is about to run, or returns the row of the same form that was sent before. */
export const beginForm = defineWrite(
  'dashboard.beginForm',
  async (tx, form: Omit<SentFormRow, 'answer'>): Promise<SentFormRow | undefined> => {
    const known = await findRow(tx, 'sentForms', { hash: form.hash });
    if (known) return known;
    await insertRow(tx, 'sentForms', { ...form, answer: null });
    const { personId, mailboxId } = form;
    const all = tx.selectFrom('sentForms').select('id').orderBy('id', 'desc');
    const own =
      personId === null ? all.where('mailboxId', '=', mailboxId) : all.where('personId', '=', personId);
    for (const { id } of await own.limit(10).offset(MAX_SENT_FORMS).execute())
      await deleteRows(tx, 'sentForms', { id });
    return undefined;
  },
);

/** Stores the answer of a form that has run. */
export const completeForm = defineWrite(
  'dashboard.completeForm',
  async (tx, { id, answer }: Pick<SentFormRow, 'id'> & { answer: string }): Promise<void> => {
    await updateRows(tx, 'sentForms', { set: { answer }, where: { id } });
  },
);

/** Forgets a form that may run again. */
export const forgetForm = defineWrite(
  'dashboard.forgetForm',
  async (tx, { id }: Pick<SentFormRow, 'id'>): Promise<void> => {
    await deleteRows(tx, 'sentForms', { id });
  },
);

/** Deletes a slice of old forms. */
export const expireForms = defineWrite(
  'dashboard.expireForms',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'sentForms', range);
    const { numDeletedRows } = await tx.deleteFrom('sentForms').where(isInSlice).executeTakeFirst();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);
