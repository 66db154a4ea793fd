/**
 * Replaces the content of a data directory by that of its folder `restore`. The plan is written and flushed first: from then on
 * the replacement is completed, if need be by the next start, and before it the old content stays. Each step is a
 * rename that may be repeated.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../system/errors.ts';
import { writeFlushed } from '../../system/write-flushed.ts';
import { flushPath } from '../flush-files.ts';
import { DataDirectoryError } from './data-directory-error.ts';

/** Bit of the mode of a directory that lets its owner write. */
const OWNER_WRITES = 0o200;
/** Names in a data directory that a restoration makes. */
const STAGING = 'restore';
const PLAN = 'restore.json';
const REPLACED = 'replaced-';
/** Folder of the file system in a directory that is a mount point. It belongs to root, so it can neither be read nor moved. */
const LOST_AND_FOUND = 'lost+found';
/** Names that belong to the directory whatever content it has. */
const STAYING = ['control.sock', LOST_AND_FOUND, STAGING, PLAN];

type Plan = {
  /** Name of the folder that the old content goes to. */
  replaced: string;
  /** Names that the new content has. */
  names: string[];
  /** Further names that stay. */
  staying: string[];
};

/** Returns the folder that the new content is collected in. */
export function stagingFolder(directory: string): string {
  return join(directory, STAGING);
}

/**
 * Replaces the content, and returns the folder that has the old one; undefined when there was none. The caller holds the lock of
 * the directory, and the new content is on disk.
 * @throws DataDirectoryError, before anything is changed, when something in the directory cannot be moved
 * @param staying names that stay besides those that always do
 * @param crashPoint is reached once the replacement is certain
 */
export function replaceContent(
  directory: string,
  { staying, now, crashPoint }: { staying: readonly string[]; now: number; crashPoint: () => void },
): string | undefined {
  const names = readdirSync(stagingFolder(directory)).filter(
    (name) => !isLock(name) && !STAYING.includes(name),
  );
  const plan: Plan = { replaced: `${REPLACED}${now}`, names, staying: [...staying] };
  requireMovable(directory, plan);
  writeFlushed(join(directory, PLAN), JSON.stringify(plan));
  crashPoint();
  moveOldContent(directory, plan, (moved) => {
    for (const name of moved) renameSync(join(directory, plan.replaced, name), join(directory, name));
    rmSync(join(directory, PLAN));
    flushPath(directory);
  });
  finishReplacement(directory);
  const replaced = join(directory, plan.replaced);
  return existsSync(replaced) ? replaced : undefined;
}

/**
 * Completes a replacement that was begun, if one was. The caller holds the lock of the directory, and has opened nothing in it.
 * @throws DataDirectoryError when the plan cannot be read
 */
export function finishReplacement(directory: string): void {
  const plan = readPlan(directory);
  if (!plan) return;
  const staging = stagingFolder(directory);
  // All old files go first, so that no WAL of the old database is ever beside the new one.
  moveOldContent(directory, plan, () => {});
  for (const name of plan.names)
    if (existsSync(join(staging, name))) renameSync(join(staging, name), join(directory, name));
  flushPath(directory);
  rmSync(staging, { recursive: true, force: true });
  rmSync(join(directory, PLAN));
  flushPath(directory);
}

/**
 * Moves the old content away. When something cannot be moved, `undo` gets the names that were, in the order in which to move them back.
 * @throws DataDirectoryError
 */
function moveOldContent(directory: string, plan: Plan, undo: (moved: readonly string[]) => void): void {
  const replaced = join(directory, plan.replaced);
  const moved: string[] = [];
  for (const name of readdirSync(directory)) {
    if (isStaying(name, plan)) continue;
    if (plan.names.includes(name) && !existsSync(join(stagingFolder(directory), name))) continue;
    try {
      mkdirSync(replaced, { recursive: true, mode: 0o700 });
      renameSync(join(directory, name), join(replaced, name));
      moved.unshift(name);
    } catch (error) {
      undo(moved);
      throw new DataDirectoryError(
        `${join(directory, name)} cannot be moved to ${replaced} (${errorMessage(error)}): correct that, or restore into another directory (--to)`,
        { cause: error },
      );
    }
  }
}

function readPlan(directory: string): Plan | undefined {
  const path = join(directory, PLAN);
  if (!existsSync(path)) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Plan;
  } catch (error) {
    throw new DataDirectoryError(
      `${path} is damaged: the old content of ${directory} and the restored one in ${stagingFolder(directory)} are complete; remove ${path} and restore again`,
      { cause: error },
    );
  }
}

/** Refuses what no rename can move or replace, such as a mount point: once the plan is written, each start would fail at it. */
function requireMovable(directory: string, plan: Plan): void {
  const both = plan.names.find((name) => plan.staying.includes(name) && existsSync(join(directory, name)));
  if (both !== undefined)
    throw new DataDirectoryError(
      `${join(directory, both)} has the backups, and the restored data has a folder of this name too: move the backups elsewhere (backup.folder), or restore into another directory (--to)`,
    );
  const { dev } = lstatSync(directory);
  for (const name of readdirSync(directory)) {
    if (isStaying(name, plan)) continue;
    const found = lstatSync(join(directory, name));
    requireOwnDirectory(join(directory, name), found);
    if (found.dev === dev) continue;
    throw new DataDirectoryError(
      `${join(directory, name)} is on another file system than ${directory}, so it cannot be replaced: restore into another directory (--to), or unmount it`,
    );
  }
}

/** A directory can be moved to another one only by a user who may write to it, because its entry for its parent changes. */
function requireOwnDirectory(path: string, found: Stats): void {
  const user = process.geteuid?.();
  const { uid, mode } = found;
  if (!found.isDirectory() || user === undefined || user === 0) return;
  if (uid === user && (mode & OWNER_WRITES) !== 0) return;
  throw new DataDirectoryError(
    `${path} belongs to another user (${uid}) or is not writable, so it cannot be moved: run "chown -R" and "chmod u+w" on it for the user ${user}. Nothing was changed`,
  );
}

function isStaying(name: string, { staying }: Plan): boolean {
  return isLock(name) || name.startsWith(REPLACED) || STAYING.includes(name) || staying.includes(name);
}

/** The files of the lock are open while the content is replaced. */
function isLock(name: string): boolean {
  return name.startsWith('lock.db');
}
