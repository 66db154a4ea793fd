/** Fetches the base of a generation and unpacks it while it arrives. Two pieces are in memory at a time. */
import { createHash } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ARCHIVE_FILE, BackupError, FACTS_FILE, SUMS_FILE } from '../../backups/format.ts';
import { flushTree } from '../../backups/place.ts';
import { unpackArchive } from '../../backups/unpack.ts';
import { verifyBackup } from '../../backups/verify.ts';
import { MAX_OBJECT_BYTES, StoreError } from '../../objects/object-store.ts';
import { readObject } from '../../objects/read-object.ts';
import { type Clock, sleep } from '../../system/clock.ts';
import { errorCode, errorMessage } from '../../system/errors.ts';
import { baseObject, type Piece } from '../names.ts';
import { StandbyError } from '../standby-error.ts';
import { type Position, writePosition } from './position.ts';
import type { Base, Remote } from './remote.ts';

/** Maximum number of attempts to fetch a piece, and the time after the first, in milliseconds, which doubles each time. */
const MAX_ATTEMPTS = 8;
const RETRY_MS = 1_000;

type FetchOptions = {
  remote: Remote;
  clock: Clock;
  identities: readonly string[];
  signal: AbortSignal;
};

/** Returns the folder of the copy in the folder of its generation. It has the form of a data directory. */
export function copyFolder(folder: string): string {
  return join(folder, 'copy');
}

/**
 * Makes the copy of a generation from its base, in a folder whose content is removed first.
 * @throws StandbyError when the base is damaged, or no identity opens it; StoreError; errors of the file system
 */
export async function fetchBase(
  options: FetchOptions,
  { generation, pieces, firstCut }: Base,
  folder: string,
): Promise<Position> {
  const { remote, identities } = options;
  const { installation } = remote;
  const copy = copyFolder(folder);
  await rm(folder, { recursive: true, force: true });
  await mkdir(copy, { recursive: true, mode: 0o700 });
  const archive = pieces.filter(({ name }) => name.startsWith(ARCHIVE_FILE));
  try {
    await unpackArchive(readPieces(options, generation, archive), { to: copy, identities, isFlushed: true });
    const { takenAt, version } = await verifyCopy(copy, installation);
    for (const file of [FACTS_FILE, SUMS_FILE]) await rm(join(copy, file));
    await flushTree(folder);
    const position = { installation, generation, sequence: 0, sha256: null, takenAt, firstCut, version };
    writePosition(folder, position);
    return position;
  } catch (error) {
    // The packages report damage by errors without a code. Those of the system have one.
    const isOther =
      error instanceof StandbyError || error instanceof StoreError || errorCode(error) !== undefined;
    if (isOther && !(error instanceof BackupError)) throw error;
    const reason = errorMessage(error);
    throw new StandbyError(`the base of ${generation} cannot be opened: ${reason}`, { cause: error });
  }
}

async function verifyCopy(copy: string, installation: string): Promise<{ takenAt: number; version: string }> {
  const { facts, findings } = await verifyBackup(copy);
  const [first] = findings;
  if (first) throw new StandbyError(`it is damaged: ${first.path}: ${first.problem}`);
  if (facts.installation !== installation)
    throw new StandbyError(`it is a base of another installation (${facts.installation})`);
  return facts;
}

/** Yields the bytes of pieces in order. The next one is fetched while one is unpacked. */
async function* readPieces(
  options: FetchOptions,
  generation: string,
  pieces: readonly Piece[],
): AsyncGenerator<Uint8Array> {
  const begin = (piece: Piece | undefined) => {
    const fetching = piece && readPiece(options, generation, piece);
    // An error is thrown by the loop below.
    fetching?.catch(() => {});
    return fetching;
  };
  let next = begin(pieces[0]);
  for (let index = 0; index < pieces.length; index++) {
    const bytes = next && (await unlessAborted(next, options.signal));
    next = begin(pieces[index + 1]);
    if (bytes) yield bytes;
  }
}

/**
 * Returns what a promise resolves with.
 * @throws the reason of the signal as soon as it is aborted, and the error of the promise
 */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** @throws StandbyError when the piece is missing or damaged; StoreError after several attempts */
async function readPiece(
  { remote, clock, signal }: FetchOptions,
  generation: string,
  { name, bytes, sha256 }: Piece,
): Promise<Buffer> {
  if (bytes > MAX_OBJECT_BYTES) throw new StandbyError(`the piece ${name} is too large`);
  for (let attempt = 1; ; attempt++) {
    try {
      const object = baseObject(remote.installation, generation, name);
      const found = await readObject(remote.store, object, bytes);
      if (found && createHash('sha256').update(found).digest('hex') === sha256) return found;
      throw new StandbyError(`the piece ${name} is ${found ? 'damaged' : 'missing'}`);
    } catch (error) {
      const mayRecover = error instanceof StoreError && error.kind === 'unreachable';
      if (!mayRecover || attempt === MAX_ATTEMPTS || signal.aborted) throw error;
      await sleep(clock, RETRY_MS * 2 ** (attempt - 1), signal);
    }
  }
}
