/** Starts the thread that reads mail from other servers, and serves what it asks of the main thread. */
import type { App } from '../app.ts';
import type { Accounts } from '../mailboxes/accounts.ts';
import type { PartThread } from '../system/thread.ts';
import { createSystemPart } from '../thread-app.ts';
import { findOpenFolder, openFolder } from './folder-store.ts';
import { IMPORT_PART } from './part.ts';
import type { ImportCalls, TargetCalls } from './run.ts';
import { advanceImport } from './store.ts';

type Target = Pick<Accounts, 'contents' | 'listTargets'>;

/** Returns the reader, in a thread of its own or in this one. It starts with the first run. */
export function createImportReader(
  app: App,
  accounts: Target,
  { inThreads }: { inThreads: boolean },
): PartThread<ImportCalls> {
  const options = { inThreads, host: createTargetCalls(app, accounts), data: () => undefined };
  return createSystemPart(app, IMPORT_PART, options);
}

/** Returns the functions for the thread that reads. */
export function createTargetCalls(
  app: Pick<App, 'db' | 'clock'> & { disk: Pick<App['disk'], 'requireReserve'> },
  { contents, listTargets }: Target,
): TargetCalls {
  return {
    listTargets: ({ mailboxId }) => listTargets(mailboxId),
    openFolder: async (opened) =>
      (await findOpenFolder(app.db.read, opened)) ?? app.db.commit(openFolder, opened),
    findMissing: ({ mailboxId, deliveryIds }) => contents.findMissing(mailboxId, deliveryIds),
    async remember({ mailboxId, deliveryIds }) {
      app.disk.requireReserve();
      await contents.remember(mailboxId, deliveryIds);
    },
    async add({ mailboxId, ...added }) {
      app.disk.requireReserve();
      return contents.add(mailboxId, added);
    },
    async requireReserve() {
      app.disk.requireReserve();
    },
    advance: ({ id, counts, errors }) =>
      app.db.commit(advanceImport, { id, progress: JSON.stringify(counts), errors }),
  };
}
