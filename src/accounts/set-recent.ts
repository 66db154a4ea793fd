/** Stores which messages of a folder no session has seen as `\Recent`. */
import { defineWrite } from '../db/operation.ts';
import { updateRecentFrom } from './folder-store.ts';
import type { AccountTx } from './store.ts';

type Recent = {
  folderId: number;
  /** First UID that no session has seen. */
  recentFrom: number;
};

/** Sets the first UID that is recent for the next session. */
export const setRecentFrom = defineWrite(
  'account.setRecentFrom',
  async (tx: AccountTx, { folderId, recentFrom }: Recent): Promise<void> => {
    await updateRecentFrom(tx, { id: folderId, recentFrom });
  },
);
