/**
 * The reading of mail from other servers as a part of the daemon, in a thread of its own: the octets of other servers are parsed there,
 * which delays nothing else, and what a server sends cannot use up the memory of the daemon.
 */
import { sleep } from '../system/clock.ts';
import type { Part } from '../system/thread/part.ts';
import { moduleBeside } from '../system/thread.ts';
import type { SystemApp } from '../thread-app.ts';
import type { ImportCalls, RunEnd, TargetCalls } from './run.ts';

/**
 * Maximum heap: lists of folders and of UIDs, at most 100 MB for each import that runs. The contents of messages are outside of it;
 * `MAX_RUNNING_IMPORTS` (worker.ts) bounds them.
 */
const HEAP_MEGABYTES = 512;

/** Starts the part. */
export async function startImportReader(app: SystemApp, target: TargetCalls): Promise<Part<ImportCalls>> {
  const running = new Set<Promise<RunEnd>>();
  const connections = new Set<{ close(): void }>();
  let isStopping = false;
  return {
    calls: {
      async runImport(request) {
        // The library is loaded when it is needed: most installations never import.
        const { runImport } = await import('./run-import.ts');
        const opened: { close(): void }[] = [];
        const run = runImport(app, request, {
          target,
          isStopping: () => isStopping,
          onConnection(connection) {
            opened.push(connection);
            connections.add(connection);
          },
        });
        running.add(run);
        try {
          return await run;
        } finally {
          running.delete(run);
          for (const connection of opened) connections.delete(connection);
        }
      },
    },
    async stop(graceMs) {
      isStopping = true;
      // A run stores what it has fetched, and waits for nothing more of the other server.
      for (const connection of connections) connection.close();
      await Promise.race([Promise.allSettled(running), sleep(app.clock, graceMs)]);
    },
  };
}

/** The imports of a thread that dies go on in another run. */
export const IMPORT_PART = {
  name: 'mailbox-imports',
  module: moduleBeside(import.meta.url, 'import-thread'),
  heapMegabytes: HEAP_MEGABYTES,
  start: startImportReader,
};
