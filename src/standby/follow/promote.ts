/**
 * Promotes a copy: this host becomes the owner of the installation, applies what the store has up to then, and puts the copy into the data
 * directory as a restored one, which nothing leaves before it is released. The files move. A promotion that was interrupted is completed
 * by the next one.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { relative } from 'node:path';
import { backupFolder } from '../../backups/format.ts';
import { rememberRestore } from '../../backups/last-restore.ts';
import { type Placed, type Placing, placeRestored, withDataDirectory } from '../../backups/place.ts';
import { stagingFolder } from '../../db/installation/replace.ts';
import { lockDirectory } from '../../db/lock.ts';
import { isoTime } from '../../system/clock.ts';
import { claimEpoch, findOwner, forgetOwner, isReplaced, type Owner, readOwnOwner } from '../owner.ts';
import { StandbyError } from '../standby-error.ts';
import { StandbyCopy } from './copy.ts';
import { Follower, type FollowOptions } from './follower.ts';
import { listMailInDoubt, listOfMailInDoubt, type MailInDoubt } from './in-doubt.ts';
import { earlierFolder, findInterrupted, removeCopies } from './interrupted.ts';
import { moveBack, moveCopy } from './move-copy.ts';
import type { Position } from './position.ts';
import { alignInstallation, removeForeignAccounts } from './tidy.ts';

export type Promotion = Placing & {
  follow: FollowOptions;
  /** Time of the last cut that is wanted, in Unix milliseconds; undefined for the newest. */
  at?: number | undefined;
  /** True when the content of the data directory may be replaced. It is kept beside the new one. */
  isReplacing: boolean;
};

export type Promoted = Placed & {
  dataDir: string;
  position: Position;
  mail: MailInDoubt;
  /** File with all recipients whose mail may have left. */
  list: string;
  /** Number of accounts that the main database did not have yet. */
  removedAccounts: number;
  /** The reason why later segments of the store could not be applied; null when there are none. */
  problem: string | null;
};

type Outcome = Placed & Pick<Promoted, 'removedAccounts' | 'problem'> & { mail: MailInDoubt | undefined };

/** The outcome of a promotion that was interrupted after it had put the copy into the data directory. */
const PLACED_BEFORE: Outcome = {
  mailboxes: 0,
  replaced: null,
  removedAccounts: 0,
  problem: null,
  mail: undefined,
};

/** Names in a data directory that do not count as content. */
const NO_CONTENT = /^(?:lock\.db.*|control\.sock|lost\+found|backups|restore|restore\.json|replaced-.*)$/;

/**
 * Promotes the copy in a folder. No daemon may run in the data directory, and nobody may follow in the folder.
 * @throws StandbyError when the data directory has content, another host was promoted, or there is no cut; StoreError; LockedError; errors
 * of opening the data and of the file system
 */
export async function promote(promotion: Promotion): Promise<Promoted> {
  const { config, follow } = promotion;
  const { dataDir } = config;
  const lock = lockDirectory(follow.folder);
  try {
    return await withDataDirectory(dataDir, async () => {
      const interrupted = findInterrupted(follow.folder, stagingFolder(dataDir));
      if (interrupted?.isPlaced && readOwnOwner(dataDir))
        return conclude(promotion, interrupted.position, PLACED_BEFORE);
      requireEmpty(promotion);
      const owner = await findOwner(follow.remote.store, follow.remote.installation);
      const prepared = interrupted
        ? await continueWith(follow, interrupted.folder, owner)
        : await prepare(promotion, owner);
      return await place(promotion, prepared);
    });
  } finally {
    lock.release();
  }
}

/** @throws StandbyError when the data directory has content that may not be replaced */
function requireEmpty({ config, follow, isReplacing }: Promotion): void {
  const { dataDir } = config;
  const ignored = [backupFolder(config), follow.folder].map((folder) => nameWithin(dataDir, folder));
  const content = readdirSync(dataDir).filter((name) => !NO_CONTENT.test(name) && !ignored.includes(name));
  if (content.length === 0 || isReplacing) return;
  throw new StandbyError(
    `${dataDir} has content (${content.slice(0, 5).join(', ')}): promote with --replace, which keeps it beside the new one, or choose another directory (--to)`,
  );
}

/** Returns the name in a directory that leads to a folder below it; `..` for a folder elsewhere. */
function nameWithin(directory: string, folder: string): string {
  return relative(directory, folder).split('/', 1).join('');
}

type Prepared = { copy: StandbyCopy; problem: string | null };

/** Brings the copy to its cut, and makes it the owner. */
async function prepare(promotion: Promotion, found: Owner | undefined): Promise<Prepared> {
  const { follow, at, crashPoint } = promotion;
  const follower = new Follower(follow);
  await follower.open();
  let problem = at === undefined ? await follower.catchUp() : null;
  const copy = at === undefined ? follower.copy : await copyAt(follow, follower, at);
  if (!copy) throw new StandbyError('the store has no complete base: there is nothing to promote');
  copy.requireOpen();
  await claim(promotion, copy, found);
  crashPoint('standby-owner-claimed');
  // The primary may have sent more until then.
  if (at === undefined) problem = await follower.applyRest();
  return { copy, problem };
}

/** Makes the copy the owner of the epoch after the one that was found when the promotion began. */
async function claim({ follow, now }: Promotion, copy: StandbyCopy, found: Owner | undefined): Promise<void> {
  const { store, installation } = follow.remote;
  const { dataDir } = copy;
  const own = readOwnOwner(dataDir);
  // An earlier attempt has claimed it.
  if (own && own.node === found?.node) return;
  const epoch = (found?.epoch ?? 0) + 1;
  if (await claimEpoch(store, { dataDir, installation, now, epoch })) return;
  forgetOwner(dataDir);
  throw new StandbyError('another host was promoted at the same time, and this one was not');
}

/** Returns the copy of a promotion that was interrupted after it had begun to open the copy. */
async function continueWith(
  { identities, crashPoint }: FollowOptions,
  folder: string,
  found: Owner | undefined,
): Promise<Prepared> {
  const copy = await StandbyCopy.open(folder, { identities, crashPoint });
  const own = copy && readOwnOwner(copy.dataDir);
  if (!copy || !own) throw new StandbyError(`${folder} is damaged: remove it, and promote again`);
  if (found && isReplaced(own, found))
    throw new StandbyError(
      `${found.host} was promoted at ${isoTime(found.since)}, after this promotion had begun: remove ${folder} to follow that host`,
    );
  return { copy, problem: null };
}

/** Returns a copy of the last cut that is not later than a time: the one that follows, unless it is later already. */
async function copyAt(
  follow: FollowOptions,
  follower: Follower,
  at: number,
): Promise<StandbyCopy | undefined> {
  const base = await follow.remote.findAt(at);
  if (!base) throw new StandbyError(`the store has no base of ${isoTime(at)} or earlier`);
  const current = follower.copy?.position;
  let chosen = follower;
  if (current?.generation !== base.generation || current.takenAt > at) {
    const folder = earlierFolder(follow.folder);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o700 });
    chosen = new Follower({ ...follow, folder });
    await chosen.use(base);
  }
  while (await chosen.advance(at));
  return chosen.copy;
}

/** Puts the copy into the data directory. From the first line on, no segment can be applied to it. */
async function place(promotion: Promotion, { copy, problem }: Prepared): Promise<Promoted> {
  const { config, follow, now } = promotion;
  const { dataDir } = config;
  copy.close(stagingFolder(dataDir));
  const removedAccounts = await removeForeignAccounts(copy.dataDir);
  alignInstallation(copy.dataDir, follow.remote.installation);
  const { position } = copy;
  const mail = listMailInDoubt(copy.dataDir, { takenAt: position.takenAt, now });
  const placed = await placeRestored(promotion, {
    collect: (staging) => moveCopy(copy.dataDir, staging),
    abandon: (staging) => moveBack(staging, copy.dataDir),
    staying: [nameWithin(dataDir, follow.folder)],
  });
  promotion.crashPoint('standby-placed');
  return conclude(promotion, position, { ...placed, removedAccounts, problem, mail });
}

/** Notes what was done, and removes the copies, which are of no further use. */
function conclude(
  { config, follow, now }: Promotion,
  position: Position,
  { mail: listed, ...outcome }: Outcome,
): Promoted {
  const { dataDir } = config;
  const { takenAt, generation, sequence, version } = position;
  const mail = listed ?? listMailInDoubt(dataDir, { takenAt, now });
  const { mailboxes, replaced } = outcome;
  const backup = `standby ${generation}, cut ${sequence}`;
  rememberRestore(dataDir, { backup, restoredAt: now, takenAt, version, mailboxes, replaced });
  removeCopies(follow.folder);
  return { dataDir, position, mail, list: listOfMailInDoubt(dataDir), ...outcome };
}
