/** Finds what an interrupted promotion has left, so that the next one completes it. */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isGeneration } from '../names.ts';
import { copyFolder } from './base.ts';
import { type Position, readPosition } from './position.ts';

/** Folder of copies that were made for an earlier time, beside those that follow. */
const EARLIER = 'earlier';

/** Returns the folder of the copies for an earlier time. */
export function earlierFolder(folder: string): string {
  return join(folder, EARLIER);
}

type Interrupted = {
  /** Folder of the generation. */
  folder: string;
  position: Position;
  /** True when the copy has become the data directory already. */
  isPlaced: boolean;
};

/** Returns the promotion that was begun into a staging folder, whose copy is back in its folder; undefined when there is none. */
export function findInterrupted(folder: string, staging: string): Interrupted | undefined {
  for (const path of [...generationsIn(folder), ...generationsIn(earlierFolder(folder))]) {
    const position = readPosition(path);
    if (position?.staging !== staging) continue;
    const copy = copyFolder(path);
    if (!existsSync(copy) && existsSync(staging)) renameSync(staging, copy);
    return { folder: path, position, isPlaced: !existsSync(copy) };
  }
  return undefined;
}

/** Removes all copies in a folder. */
export function removeCopies(folder: string): void {
  for (const path of [...generationsIn(folder), earlierFolder(folder)])
    rmSync(path, { recursive: true, force: true });
}

function generationsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter(isGeneration)
    .map((name) => join(folder, name));
}
