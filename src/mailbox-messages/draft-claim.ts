/** Remembers which draft an Idempotency-Key stands for, so that a repeated request finds its draft, and another one is refused. */
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import { defineWrite } from '../db/operation.ts';
import { hashJson, IDEMPOTENCY_WINDOW_MS } from '../emails/idempotency/key.ts';
import {
  acceptOnce,
  findReplay,
  type IdempotencyClaim,
  type IdempotencyOwner,
} from '../emails/idempotency/store.ts';
import type { NewDraft } from './draft-schemas.ts';

/** A request for a draft with a key. */
export type DraftClaim = { owner: IdempotencyOwner; claim: IdempotencyClaim };

type Claiming = DraftClaim & { id: string };

/** Returns the id that the key stands for: that of an earlier request, or else the given one. */
const claimDraft = defineWrite('mailboxMessages.claimDraft', async (tx, { id, ...of }: Claiming) => {
  const { response } = await acceptOnce(tx, of, async () => ({ id }));
  return response.id;
});

/**
 * Returns the claim of a request on its key. Keys of requests have no line feed, so that each mailbox has its own and none is that of an
 * email or of a sent draft.
 */
export function draftClaimOf(
  mailbox: Pick<MailboxRow, 'id'>,
  { key, wanted, owner }: { key: string; wanted: NewDraft; owner: IdempotencyOwner },
): DraftClaim {
  const requestHash = hashJson(wanted, () => undefined);
  const expiresAt = owner.now + IDEMPOTENCY_WINDOW_MS;
  return { owner, claim: { key: `new draft\n${mailbox.id}\n${key}`, requestHash, expiresAt } };
}

/**
 * Checks that the key stands for no other request. It is bound once the request has been found to be valid (`claimDraftId`).
 * @throws AppError idempotency_conflict
 */
export async function requireFreeKey({ db }: Pick<App, 'db'>, { owner, claim }: DraftClaim): Promise<void> {
  await findReplay(db.read, owner, claim);
}

/**
 * Returns the id of the draft of a key: that of an earlier request, or else the given one, which the key stands for from now on.
 * @throws AppError idempotency_conflict
 */
export function claimDraftId({ db }: Pick<App, 'db'>, of: DraftClaim, id: string): Promise<string> {
  return db.commit(claimDraft, { ...of, id });
}
