/** The last step of accepting: the transaction, and what follows from how it ended. */
import type { App } from '../app.ts';
import { discardAll, discardOnRefusal } from '../blobs/discard-on-refusal.ts';
import type { Write } from '../db/operation.ts';
import type { BlobRow } from '../db/tables.ts';
import type { RequireValidKey } from '../tenants/authenticate.ts';
import type { Answer } from './idempotency/store.ts';

export type CommitApp = Pick<App, 'db' | 'blobs' | 'notices' | 'crashPoint'>;

/**
 * Bytes that were stored for nothing, because the transaction refused them or there was an answer already, go at once.
 *
 * @param stored.unusedBy those of `blobs` that this answer leaves without an email
 * @param stored.requireValidKey asked right before the transaction: files may have taken a minute to arrive
 */
export async function commitStored<Input, Response>(
  app: CommitApp,
  write: Write<Input, Answer<Response>>,
  input: Input,
  stored: {
    blobs: readonly BlobRow[];
    unusedBy: (response: Response) => readonly BlobRow[];
    requireValidKey: RequireValidKey;
  },
): Promise<Answer<Response>> {
  const answer = await discardOnRefusal(app.blobs, stored.blobs, async () => {
    await stored.requireValidKey();
    return app.db.commit(write, input);
  });
  await discardAll(app.blobs, answer.replayed ? stored.blobs : stored.unusedBy(answer.response));
  if (answer.replayed) return answer;
  app.crashPoint('accept-after-commit');
  app.notices.notify('queue');
  app.notices.notify('events');
  return answer;
}
