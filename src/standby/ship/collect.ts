/**
 * Collects a cut: what has changed since the last one. The pages of the main database come first, then those of the accounts, and the
 * files last. An account is therefore never older than the main database says, and each file that a row names is there.
 */
import { relative } from 'node:path';
import { accountFolder, contentFolder, indexFile } from '../../accounts/folder.ts';
import type { App } from '../../app.ts';
import { pathOf } from '../../blobs/files.ts';
import { blobFolder } from '../../blobs/owner.ts';
import type { ChangedPages } from '../../db/changed-pages.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { ShippedSegment } from './part.ts';

/** What an account has changed. `files` are the hashes of its new files. */
export type ChangedAccount = {
  id: MailboxRow['id'];
  pages: ChangedPages | undefined;
  files: readonly string[];
};

/** The accounts of mailboxes, whose threads collect what has changed. */
export type FollowedAccounts = {
  /** Begins to follow changes, or ends it. */
  followPages(isFollowed: boolean): Promise<void>;
  /** Returns what has changed since the last time; `lost` when that is not known completely. */
  collectPages(): Promise<ChangedAccount[] | 'lost'>;
};

export type CollectingApp = Pick<App, 'blobs' | 'clock' | 'config' | 'db'> & { accounts: FollowedAccounts };

/** What has changed, and the time of the state of the main database. */
export type Collected = Pick<ShippedSegment, 'databases' | 'files'> & { takenAt: number };

/** Begins to follow all changes, or ends it. */
export async function followChanges(
  { accounts, blobs, db }: CollectingApp,
  isFollowed: boolean,
): Promise<void> {
  blobs.followFiles(isFollowed);
  await Promise.all([db.followPages(isFollowed), accounts.followPages(isFollowed)]);
}

/** Returns what has changed since the last time; `lost` when that is not known completely. */
export async function collectChanges(app: CollectingApp): Promise<Collected | 'lost'> {
  const { accounts, blobs, clock, config, db } = app;
  const pages = await db.collectPages();
  const takenAt = clock.now();
  if (pages === 'lost') return 'lost';
  const changed = await accounts.collectPages();
  if (changed === 'lost') return 'lost';
  const inDataDir = (path: string) => relative(config.dataDir, path);
  const main = pages ? [{ path: 'postrider.db', pages }] : [];
  const ofAccounts = changed.flatMap(({ id, pages: own }) =>
    own ? [{ path: inDataDir(indexFile(accountFolder(config.dataDir, id))), pages: own }] : [],
  );
  const files = [
    ...blobs.takeNewFiles().map((sha256) => pathOf(blobFolder(config.dataDir), sha256)),
    ...changed.flatMap(({ id, files: hashes }) =>
      hashes.map((sha256) => pathOf(contentFolder(accountFolder(config.dataDir, id)), sha256)),
    ),
  ];
  return { takenAt, databases: [...main, ...ofAccounts], files: files.map(inDataDir) };
}
