/**
 * Reads a segment, whose entries it hands on as they arrive. A segment is complete and undamaged once it was read without an error, so
 * whoever must not apply half of one reads it twice.
 */
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdDecompress } from 'node:zlib';
import type { ParsedTarEntry } from 'modern-tar';
import { Type } from 'typebox';
import { Value } from 'typebox/value';
import { decryptAge } from '../../backups/age.ts';
import { contentHashOf } from '../../backups/format.ts';
import { readTar } from '../../backups/tar.ts';
import type { PagesToApply } from '../../db/apply-pages.ts';
import { errorCode, errorMessage } from '../../system/errors.ts';
import type { Cut } from '../cut.ts';
import { StandbyError } from '../standby-error.ts';
import {
  CUT_FILE,
  FILES,
  isDatabasePath,
  isFilePath,
  MAX_ARCHIVE_BYTES,
  MAX_CUT_BYTES,
  MAX_WINDOW_LOG,
  PAGES,
} from './format.ts';
import { decodePages } from './pages-entry.ts';

/** Receives the entries of a segment, one after the other. Each function reads its bytes to their end. */
export type SegmentHandlers = {
  pages(path: string, pages: PagesToApply): Promise<void>;
  file(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
};

/** The segment that has to follow. */
export type ExpectedSegment = Pick<Cut, 'installation' | 'generation' | 'sequence' | 'previous'>;

const cutSchema = Type.Object({
  format: Type.Literal(1),
  installation: Type.String(),
  generation: Type.String(),
  sequence: Type.Integer({ minimum: 1 }),
  takenAt: Type.Integer(),
  previous: Type.Union([Type.String({ pattern: '^[0-9a-f]{64}$' }), Type.Null()]),
});

/** Handlers that keep nothing: a segment is verified by reading it with them. */
export const VERIFYING: SegmentHandlers = {
  async pages(_path, { pages }) {
    for await (const _page of pages);
  },
  async file(_path, bytes) {
    for await (const _piece of bytes);
  },
};

/**
 * Reads a segment with secret keys, and returns its cut.
 * @throws StandbyError when it is damaged, cut off, too large, or another one than expected; errors of the handlers and of the stream
 */
export async function readSegment(
  segment: AsyncIterable<Uint8Array>,
  { identities, expected }: { identities: readonly string[]; expected: ExpectedSegment },
  handlers: SegmentHandlers,
): Promise<Cut> {
  try {
    let cut: Cut | undefined;
    for await (const entry of readTar(decompress(decryptAge(segment, identities)))) {
      if (cut) throw new StandbyError('it has an entry after its cut');
      cut = await readEntry(entry, handlers);
    }
    if (!cut) throw new StandbyError('it has no cut');
    requireExpected(cut, expected);
    return cut;
  } catch (error) {
    // The packages report damage by errors without a code, and zstd by one of its own. Others have those of the system.
    const code = errorCode(error);
    if (
      error instanceof StandbyError ||
      code === undefined ||
      code.startsWith('ZSTD_') ||
      code === 'Z_BUF_ERROR'
    )
      throw new StandbyError(
        `segment ${expected.sequence} of ${expected.generation} cannot be applied: ${errorMessage(error)}`,
        { cause: error },
      );
    throw error;
  }
}

/** Decompresses a stream, up to the maximum size of an archive. */
async function* decompress(compressed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const zstd = createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG } });
  const feeding = pipeline(compressed, zstd);
  // The loop below throws its errors.
  feeding.catch(() => {});
  let bytes = 0;
  for await (const piece of zstd as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > MAX_ARCHIVE_BYTES) throw new StandbyError('it is too large');
    yield piece;
  }
  await feeding;
}

/** Hands an entry on. Returns the cut when it is that. */
async function readEntry(
  { header, body }: ParsedTarEntry,
  handlers: SegmentHandlers,
): Promise<Cut | undefined> {
  const { name, type, size } = header;
  if (type !== 'file') throw new StandbyError('it has an entry that is no file');
  if (name === CUT_FILE) return readCut(body, size);
  const [database, file] = [after(PAGES, name), after(FILES, name)];
  if (database !== undefined && isDatabasePath(database))
    await handlers.pages(database, await decodePages(body, size));
  else if (file !== undefined && isFilePath(file)) await handlers.file(file, compared(file, body));
  else throw new StandbyError('it has an entry with a name that is not allowed');
  return undefined;
}

function after(prefix: string, name: string): string | undefined {
  return name.startsWith(prefix) ? name.slice(prefix.length) : undefined;
}

/** Yields the bytes of a file, and compares them with the hash that its name may be. */
async function* compared(path: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const expected = contentHashOf(path);
  const hash = createHash('sha256');
  for await (const piece of body) {
    if (expected !== undefined) hash.update(piece);
    yield piece;
  }
  if (expected !== undefined && hash.digest('hex') !== expected)
    throw new StandbyError(`the bytes of ${path} are not those that its name says`);
}

async function readCut(body: AsyncIterable<Uint8Array>, size: number): Promise<Cut> {
  if (size > MAX_CUT_BYTES) throw new StandbyError('its cut is too large');
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  const cut: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'));
  if (!Value.Check(cutSchema, cut)) throw new StandbyError('its cut has a form that is not known');
  return cut;
}

/** @throws StandbyError when it is another segment than the one that has to follow */
function requireExpected(cut: Cut, expected: ExpectedSegment): void {
  for (const field of ['installation', 'generation', 'sequence', 'previous'] as const)
    if (cut[field] !== expected[field])
      throw new StandbyError(`its ${field} is ${cut[field]}, and ${expected[field]} has to follow`);
}
