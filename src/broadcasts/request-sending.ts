/** Sends a broadcast by a key that requires approval: it is checked, and asks for the approval of a person instead of starting. */
import type { App } from '../app.ts';
import type { ApprovalRow } from '../db/approval-tables.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import { SENDABLE, storeRequest } from './approval/request.ts';
import { type Author, draftFieldsOf, readDraft } from './draft.ts';
import { readContentHash } from './read-bound.ts';
import { requireStartable } from './runs/start.ts';
import { getBroadcast } from './store.ts';

/**
 * Asks for the approval of a broadcast that is to be sent now, and returns it.
 * @throws AppError not_found, invalid_state, validation_error, restricted_api_key, domain_not_verified
 */
export async function requestSending(
  app: App,
  caller: Author,
  { id, keyId }: { id: string; keyId: ApprovalRow['keyId'] },
): Promise<BroadcastRow> {
  for (;;) {
    const read = await getBroadcast(app.db.read, caller, id);
    requireStartable(read, SENDABLE);
    await readDraft(app, caller, { wanted: draftFieldsOf(read), given: {} });
    const contentHash = await readContentHash(app.db.read, read);
    const { tenantId, mode, updatedAt } = read;
    const request = { read: { id: read.id, tenantId, mode, updatedAt }, contentHash, keyId };
    if (!(await app.db.commit(storeRequest, { ...request, now: app.clock.now() }))) continue;
    return getBroadcast(app.db.read, caller, id);
  }
}
