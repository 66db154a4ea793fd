/** Stores drafts: what people have entered in forms that were not sent. All SQL of this table is here. The fields are sealed. */
import { type ExpiryRange, type ExpirySlice, findSlice } from '../../db/expiry.ts';
import { defineWrite, type Tx } from '../../db/operation.ts';
import type { DraftRow } from '../../db/people-tables.ts';
import { deleteRows, insertRow } from '../../db/rows.ts';

/** Maximum number of drafts of a person or of the owner of a mailbox. The oldest one makes room. */
export const MAX_DRAFTS = 20;

export type DraftOwner = Pick<DraftRow, 'personId' | 'mailboxId'>;
type Place = { owner: DraftOwner; address: string };

function draftsOf(tx: Tx, { personId, mailboxId }: DraftOwner) {
  const all = tx.selectFrom('drafts').selectAll().orderBy('id', 'desc');
  return personId === null ? all.where('mailboxId', '=', mailboxId) : all.where('personId', '=', personId);
}

/** Returns the drafts of an owner for the forms of a page, the newest first. */
export function listDrafts(tx: Tx, { owner, address }: Place): Promise<DraftRow[]> {
  return draftsOf(tx, owner).where('address', '=', address).execute();
}

/** Stores a draft in the place of the one before of the same form. */
export const storeDraft = defineWrite('dashboard.storeDraft', async (tx, draft: DraftRow) => {
  await dropDraft.run(tx, { owner: draft, ...draft });
  await insertRow(tx, 'drafts', draft);
  const kept = await draftsOf(tx, draft).execute();
  for (const { id } of kept.slice(MAX_DRAFTS)) await deleteRows(tx, 'drafts', { id });
});

/** Deletes the draft of a form, which was sent, or whose draft was thrown away. */
export const dropDraft = defineWrite(
  'dashboard.dropDraft',
  async (tx, { owner, address, action }: Place & Pick<DraftRow, 'action'>) => {
    const drafts = await listDrafts(tx, { owner, address });
    for (const { id, action: of } of drafts) if (of === action) await deleteRows(tx, 'drafts', { id });
  },
);

/** Deletes a slice of old drafts. */
export const expireDrafts = defineWrite(
  'dashboard.expireDrafts',
  async (tx, range: ExpiryRange): Promise<ExpirySlice> => {
    const { isInSlice, next } = await findSlice(tx, 'drafts', range);
    const { numDeletedRows } = await tx.deleteFrom('drafts').where(isInSlice).executeTakeFirst();
    return { next, deleted: Number(numDeletedRows) };
  },
  { priority: 'bulk' },
);
