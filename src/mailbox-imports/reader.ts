/** Starts the thread that reads mail from other servers, and serves what it asks of the main thread. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { App } from '../app.ts';
import type { Accounts } from '../mailboxes/accounts.ts';
import { servePortCalls } from '../system/thread/calls.ts';
import { inThisThreadLater, type LazyThread } from '../system/thread.ts';
import { createLazySystemThread } from '../thread-app.ts';
import { findOpenFolder, openFolder } from './folder-store.ts';
import { IMPORT_THREAD, type ImportStart, startImportReader } from './part.ts';
import { advanceImport } from './store.ts';
import { IMPORT_CALLS, type ImportCalls, type TargetCalls } from './turn.ts';

type Target = Pick<Accounts, 'contents' | 'listTargets'>;

/** Returns the reader, in a thread of its own or in this one. It starts with the first turn. */
export function createImportReader(
  app: App,
  accounts: Target,
  { inThreads }: { inThreads: boolean },
): LazyThread<ImportCalls> {
  const target = createTargetCalls(app, accounts);
  const start = (): ImportStart => ({ target: openPort(target) });
  if (!inThreads) return inThisThreadLater(() => startImportReader(app, start()), IMPORT_CALLS);
  const prepare = () => {
    const data = start();
    return { data, transfer: [data.target] };
  };
  return createLazySystemThread<ImportCalls>(app, { ...IMPORT_THREAD, prepare }, IMPORT_CALLS);
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

function openPort(target: TargetCalls): MessagePort {
  const { port1, port2 } = new MessageChannel();
  servePortCalls(port1, target);
  return port2;
}
