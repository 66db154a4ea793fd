/** Gives the rows of messages the flags that were committed as edits (pending-edit-store.ts). */
import { defineWrite } from '../db/operation.ts';
import type { PrivateDatabase } from '../db/private-database.ts';
import type { Timer } from '../system/clock.ts';
import type { System } from '../system/system.ts';
import { updateRecentFrom } from './folder-store.ts';
import { applyNextEdit, applyPendingEdits, countPendingEdits } from './pending-edit-store.ts';
import type { AccountTables } from './rows.ts';
import type { AccountTx } from './store.ts';

/** Time without a further edit after which the rows are written. Our own: programs send several commands in a row. */
export const SETTLING_MS = 1_000;

const settleSome = defineWrite(
  'account.settleSomeFlags',
  (tx: AccountTx, { folderId }: { folderId: number }): Promise<boolean> => applyNextEdit(tx, folderId),
  { priority: 'bulk' },
);

const settleFolder = defineWrite(
  'account.settleFlags',
  (tx: AccountTx, { folderId }: { folderId: number }): Promise<void> => applyPendingEdits(tx, folderId),
);

/** Writes the rows of a folder, so that a query on committed data finds the flags that clients know. */
export async function settleFlags(
  { db }: { db: PrivateDatabase<AccountTables> },
  folderId: number,
): Promise<void> {
  if ((await countPendingEdits(db.read, folderId)) > 0) await db.commit(settleFolder, { folderId });
}

export type FlagSettler = {
  /** Writes the rows of a folder some time later. */
  settleLater(folderId: number): void;
  /** Ends the work. What is left is done when something reads the rows. */
  stop(): Promise<void>;
};

/** Returns the settler of an account. */
export function createFlagSettler(
  { clock, log }: Pick<System, 'clock' | 'log'>,
  db: PrivateDatabase<AccountTables>,
): FlagSettler {
  const folders = new Set<number>();
  let timer: Timer | undefined;
  let running = Promise.resolve();
  let isStopped = false;
  const settle = async (): Promise<void> => {
    for (const folderId of folders) {
      folders.delete(folderId);
      while (!isStopped && (await db.commit(settleSome, { folderId }))) {}
    }
  };
  return {
    settleLater(folderId) {
      folders.add(folderId);
      timer?.cancel();
      timer = clock.after(SETTLING_MS, () => {
        running = running
          .then(settle)
          .catch((err) => log.warn({ err }, 'flags of messages were not written to their rows yet'));
      });
    },
    async stop() {
      isStopped = true;
      timer?.cancel();
      await running;
    },
  };
}

type Recent = {
  folderId: number;
  /** First UID that no session has seen. */
  recentFrom: number;
};

/** Stores the first UID that no session has seen as `\Recent`, which is recent for the next session. */
export const setRecentFrom = defineWrite(
  'account.setRecentFrom',
  async (tx: AccountTx, { folderId, recentFrom }: Recent): Promise<void> => {
    await updateRecentFrom(tx, { id: folderId, recentFrom });
  },
);
