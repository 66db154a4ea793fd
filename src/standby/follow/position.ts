/** Remembers where the copy of a generation is, in a file that is flushed. A folder without the file has no complete base. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { errorCode } from '../../system/errors.ts';
import { writeFlushed } from '../../system/write-flushed.ts';
import { isGeneration } from '../names.ts';
import { StandbyError } from '../standby-error.ts';

const FILE = 'position.json';

const positionSchema = Type.Object({
  installation: Type.String(),
  generation: Type.String(),
  /** The segment that was applied last; 0 for the base alone. */
  sequence: Type.Integer({ minimum: 0 }),
  /** SHA-256 of its object; null for the base alone. */
  sha256: Type.Union([Type.String(), Type.Null()]),
  /** Time of the state that the copy has, in Unix milliseconds. */
  takenAt: Type.Integer(),
  /** The first cut after the base (names.ts). */
  firstCut: Type.Object({ sequence: Type.Integer(), takenAt: Type.Integer() }),
  /** Version of the program that made the base. */
  version: Type.String(),
  /** Folder in which the copy is opened; absent until it is promoted. No segment can be applied from then on. */
  staging: Type.Optional(Type.String()),
});

export type Position = Static<typeof positionSchema>;

/**
 * Returns the position of a copy; undefined when its base is not complete.
 * @throws StandbyError when the file is damaged
 */
export function readPosition(folder: string): Position | undefined {
  const path = join(folder, FILE);
  let position: unknown;
  try {
    position = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new StandbyError(`${path} is damaged: remove ${folder}, and the copy is made anew`, {
      cause: error,
    });
  }
  if (!Value.Check(positionSchema, position))
    throw new StandbyError(`${path} is damaged: remove ${folder}, and the copy is made anew`);
  return position;
}

/** Returns the position of the newest copy in the folder of a host that follows; undefined when no base is complete. @throws StandbyError */
export function findPosition(folder: string): Position | undefined {
  if (!existsSync(folder)) return undefined;
  for (const generation of readdirSync(folder).filter(isGeneration).sort().reverse()) {
    const position = readPosition(join(folder, generation));
    if (position) return position;
  }
  return undefined;
}

export function writePosition(folder: string, position: Position): void {
  writeFlushed(join(folder, FILE), `${JSON.stringify(position)}\n`);
}
