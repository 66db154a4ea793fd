/**
 * Collects a cut: what has changed since the last one. The pages of the main database come first, then those of the accounts, and the
 * files last. An account is therefore never older than the main database says, and each file that a row names is there.
 */
import { relative } from 'node:path';
import { accountFolder, contentFolder, indexFile } from '../../accounts/folder.ts';
import type { App } from '../../app.ts';
import { pathOf } from '../../blobs/files.ts';
import { blobFolder } from '../../blobs/owner.ts';
import type { Accounts } from '../../mailboxes/accounts.ts';
import type { ShippedSegment } from './cut-writer.ts';

/** The accounts of mailboxes, whose threads collect what has changed. */
export type FollowedAccounts = Pick<Accounts, 'followPages' | 'collectPages' | 'copyBack'>;

export type CollectingApp = Pick<App, 'blobs' | 'clock' | 'config' | 'db'> & { accounts: FollowedAccounts };

/** The changes of a cut, and the time of the state of the main database. */
type Collected = Pick<ShippedSegment, 'databases' | 'files'> & { takenAt: number };

/** Begins to follow all changes, or ends it. */
export async function followChanges(
  { accounts, blobs, db }: CollectingApp,
  isFollowed: boolean,
): Promise<void> {
  blobs.followFiles(isFollowed);
  await Promise.all([db.followPages(isFollowed), accounts.followPages(isFollowed)]);
}

/**
 * Returns what has changed since the last time; `lost` when that is not known completely. A repair puts another file in the place of a
 * database: it is rare, and a new base has the file.
 */
export async function collectChanges(app: CollectingApp): Promise<Collected | 'lost'> {
  const { accounts, blobs, clock, config, db } = app;
  const pages = await db.collectPages();
  const takenAt = clock.now();
  if (pages === 'lost') return 'lost';
  const changed = await accounts.collectPages();
  const newFiles = blobs.takeNewFiles();
  if (changed === 'lost' || newFiles === 'lost' || changed.some(({ isReplaced }) => isReplaced))
    return 'lost';
  const { dataDir } = config;
  const main = pages ? [{ path: 'postrider.db', pages }] : [];
  const ofAccounts = changed.flatMap(({ id, pages: own }) =>
    own ? [{ path: relative(dataDir, indexFile(accountFolder(dataDir, id))), pages: own }] : [],
  );
  const files = [
    ...newFiles.map((sha256) => pathOf(blobFolder(dataDir), sha256)),
    ...changed.flatMap(({ id, files: hashes }) =>
      hashes.map((sha256) => pathOf(contentFolder(accountFolder(dataDir, id)), sha256)),
    ),
  ];
  return {
    takenAt,
    databases: [...main, ...ofAccounts],
    files: files.map((file) => relative(dataDir, file)),
  };
}
