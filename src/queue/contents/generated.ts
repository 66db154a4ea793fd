/** Reads the source of a message together with its generated text, which is not stored but generated again. */
import type { App } from '../../app.ts';
import type { ContentRow } from '../../db/content-tables.ts';
import { type PackedSource, type Source, unpackSource } from './source.ts';

type Reading = {
  tenantId: ContentRow['tenantId'];
  /** Maximum time to wait for a thread that generates text, in milliseconds. By default a few seconds. */
  waitTimeoutMs?: number;
};

export type ReadSource = Omit<Source, 'generated'> & {
  /** False when a new version of Postrider generates another text from the same HTML. */
  isUnchanged: boolean;
};

/**
 * Returns a stored source with its texts.
 * @throws DamagedBlobError when its bytes are not those that were stored; AppError unavailable when the text cannot be
 * generated at the moment
 */
export async function readSource(
  app: Pick<App, 'htmlText'>,
  packed: PackedSource,
  { tenantId, waitTimeoutMs }: Reading,
): Promise<ReadSource> {
  const { generated, ...source } = await unpackSource(packed);
  if (generated === undefined || source.html === undefined) return { ...source, isUnchanged: true };
  const { text, origin } = await app.htmlText.restore(source.html, {
    origin: generated,
    owner: tenantId,
    ...(waitTimeoutMs !== undefined && { waitTimeoutMs }),
  });
  const isUnchanged = origin.hash === generated.hash;
  // HTML without words has no text part.
  return { ...source, ...(text !== '' && { text }), isUnchanged };
}
