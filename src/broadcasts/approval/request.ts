/** Sends a broadcast by a key that requires approval: it is checked, and asks for the approval of a person instead of starting. */
import type { App } from '../../app.ts';
import type { ApprovalRow } from '../../db/approval-tables.ts';
import type { BroadcastRow } from '../../db/marketing-tables.ts';
import { defineWrite } from '../../db/operation.ts';
import { getRun } from '../../ledger/run-store.ts';
import { askForBroadcast } from '../ask.ts';
import { readContentHash } from '../bound.ts';
import { type Author, draftFieldsOf, readDraft } from '../draft.ts';
import { requireStartable, type StartedFrom } from '../runs/start.ts';
import { getBroadcast } from '../store.ts';

const SENDABLE: StartedFrom = ['draft', 'scheduled'];

type Request = {
  /** The broadcast that was checked. */
  read: BroadcastRow;
  contentHash: string;
  keyId: ApprovalRow['keyId'];
  now: number;
};

/** Asks for approval, unless the broadcast was changed since it was read. Returns false then. */
const storeRequest = defineWrite(
  'broadcasts.requestSending',
  async (tx, { read, contentHash, keyId, now }: Request): Promise<boolean> => {
    const broadcast = await getBroadcast(tx, { ...read, domainId: null }, read.id);
    requireStartable(broadcast, SENDABLE);
    if (broadcast.updatedAt !== read.updatedAt) return false;
    const run = await getRun(tx, broadcast.id);
    await askForBroadcast(tx, { broadcast, run, contentHash, keyId, sendAt: null, now });
    return true;
  },
);

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
    if (!(await app.db.commit(storeRequest, { read, contentHash, keyId, now: app.clock.now() }))) continue;
    app.wakeups.notify('events');
    return read;
  }
}
