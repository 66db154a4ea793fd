/**
 * Finds what differs from what a follower has. All changes are followed first. The pages that are in a WAL and not in the file are among those
 * that are followed, and the files are compared then, so that the next cut with the differences is a state of this host.
 */
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { type CollectingApp, followChanges } from './collect.ts';
import type { ShipCalls } from './part.ts';

type ResyncApp = CollectingApp & {
  shipCalls: Pick<ShipCalls, 'listWithWal' | 'scan'>;
};

/**
 * Finds the differences, which the segment of the next cut gets.
 * @throws AppError when an account is damaged; Error; errors of the file system
 */
export async function findDifferences(app: ResyncApp): Promise<'found' | 'too much'> {
  const { shipCalls } = app;
  // Otherwise the WALs that a crash has left would all have to wait in memory. Those that stay are copied back below.
  await copyBack(app, await shipCalls.listWithWal(null));
  await followChanges(app, true);
  const found = await shipCalls.scan({ isBase: false });
  if (found === 'too much') return found;
  const failure = await copyBack(app, found.withWal);
  if (failure !== undefined) throw failure;
  return 'found';
}

/**
 * Copies back the WALs of accounts. While changes are followed, the pages in the WAL of an account that nobody has opened become known by it. Returns the
 * error of an account whose WAL stays.
 */
export async function copyBack(
  { accounts }: Pick<ResyncApp, 'accounts'>,
  ids: readonly MailboxRow['id'][],
): Promise<unknown> {
  let failure: unknown;
  for (const id of ids)
    try {
      await accounts.copyBack(id);
    } catch (error) {
      failure ??= error;
    }
  return failure;
}
