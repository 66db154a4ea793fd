/** The batch that an import stores before and after a crash: a small message, and one that is in a file. */
import { INLINE_BYTES } from '../../src/accounts/content.ts';
import type { importMessages } from '../../src/accounts/transfer.ts';
import { messageOf, START_MS } from '../support/test-account.ts';

export function importedBatch(): Parameters<typeof importMessages>[1] {
  const message = { flags: [], receivedAt: START_MS };
  return {
    folder: 'Moved',
    quotaBytes: 1_000_000,
    messages: [
      { ...message, deliveryId: 'one', otherIds: ['content of one'], content: messageOf('one') },
      { ...message, deliveryId: 'two', content: messageOf('two', INLINE_BYTES + 100) },
    ],
  };
}
