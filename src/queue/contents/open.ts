/** Opens the bytes of a message: it reads those of a stored message, and composes those of a rendered one. */
import { LRUCache } from 'lru-cache';
import type { App } from '../../app.ts';
import type { BlobContent } from '../../blobs/blobs.ts';
import type { Links } from '../../links/links.ts';
import { createBodyHash } from '../../mail/dkim/body-hash.ts';
import { composeBody, TEXTS_END } from '../../mail/message/compose.ts';
import { storedFileParts } from '../../mail/message/file-part.ts';
import { instrument, type Tracked, trackingValues, withTracking } from '../../tracking/links/instrument.ts';
import type { SpooledMessage } from '../store.ts';
import { contentOf, fillTexts, type MessageContent, parseTexts, type TextTemplates } from './content.ts';
import { type ReadSource, readSource } from './generated.ts';
import { fieldsFor, type Reader, textsFor } from './reader.ts';
import type { PackedSource, Source } from './source.ts';
import { findContent } from './store.ts';

/** The bytes of a message in ASCII or as they were stored, without the fields that are added when it is sent. */
export type MessageBytes = Pick<BlobContent, 'sizeBytes' | 'isEightBit' | 'inline' | 'chunks'>;

export type OpenMessage = {
  bytes: MessageBytes;
  /** False when an earlier attempt has sent other bytes, so that its signature no longer holds. */
  isUnchanged: boolean;
  /** Returns all header fields and the empty line after them. */
  header(): Promise<Buffer>;
  /** Returns the hash of the body that DKIM signs (RFC 6376 section 3.7), in base64. */
  bodyHash(): Promise<string>;
};

type ContentApp = Pick<App, 'blobs' | 'db' | 'htmlText' | 'crashPoint'> & { links: Links };

/**
 * Messages with large texts that were composed a moment ago. A message with recipients at many sites is opened for each
 * of them, and composing it takes several milliseconds of the main thread.
 */
export type ComposedMessages = {
  messages: LRUCache<string, Promise<OpenMessage>>;
  /** Sources that copies were composed from a moment ago, by the hash of their bytes. All copies of a broadcast share one. */
  sources: LRUCache<string, Promise<SharedSource>>;
};

type SharedSource = { source: ReadSource; templates: TextTemplates | undefined };

/** Maximum number of composed messages that are remembered, of at most about a megabyte each. Our own limit. */
const MAX_COMPOSED = 16;
/** Maximum number of sources that are remembered, and of their bytes together. Our own limits. */
const MAX_SOURCES = 64;
const MAX_SOURCE_BYTES = 16 * 1024 * 1024;
/** Size of the texts from which a composed message is remembered. Smaller ones take a fraction of a millisecond. */
const MIN_REMEMBERED_BYTES = 16 * 1024;

/**
 * Maximum time that a delivery waits for a thread that generates text, in milliseconds. It is much longer than that of
 * a request: nobody waits for the delivery, and a later attempt would need the same work.
 */
const WAIT_TIMEOUT_MS = 60_000;

/** Returns an empty memory. */
export function rememberComposed(): ComposedMessages {
  return {
    messages: new LRUCache({ max: MAX_COMPOSED }),
    sources: new LRUCache({ max: MAX_SOURCES, maxSize: MAX_SOURCE_BYTES }),
  };
}

/** A message, and its reader when it is marketing mail. */
type Opening = { message: OpenedRow; reader?: Reader | undefined };

/**
 * Opens a message. Marketing mail is composed for one reader.
 * @throws DamagedBlobError when its stored bytes are damaged; AppError unavailable when its text cannot be generated at
 * the moment
 */
export async function openMessage(
  app: ContentApp,
  opening: Opening,
  composed = rememberComposed(),
): Promise<OpenMessage> {
  const content = contentOf(opening.message);
  if (content.kind === 'rendered') return openRendered(app, content, { opening, composed });
  const bytes = await app.blobs.open(content.blobId);
  return {
    bytes,
    isUnchanged: true,
    header: () => bytes.head(content.headerBytes),
    bodyHash: async () => content.bodyHash,
  };
}

type OpenedRow = Parameters<typeof contentOf>[0] & Pick<SpooledMessage, 'tenantId'>;
type Rendered = Extract<MessageContent, { kind: 'rendered' }>;

async function openRendered(
  app: ContentApp,
  content: Rendered,
  { opening, composed }: { opening: Opening; composed: ComposedMessages },
): Promise<OpenMessage> {
  const packed = await findContent(app.db.read, content.contentId);
  if (!packed) throw new Error(`content ${content.contentId} does not exist`);
  app.crashPoint('content-after-read');
  // Each reader has other bytes, which nobody asks for twice.
  if (packed.sizeBytes < MIN_REMEMBERED_BYTES || opening.reader)
    return composeMessage(app, content, {
      opening,
      shared: await readShared(app, content, { opening, packed, composed }),
    });
  const { id } = opening.message;
  const known = composed.messages.get(id);
  if (known !== undefined) return known;
  const composing = readShared(app, content, { opening, packed, composed }).then((shared) =>
    composeMessage(app, content, { opening, shared }),
  );
  composed.messages.set(id, composing);
  composing.catch(() => composed.messages.delete(id));
  return composing;
}

/** Finds the placeholders of the texts of a source, tracked links among them. */
function parseTracked(source: Source): TextTemplates {
  const { html, ...others } = parseTexts(source);
  const { tracking } = source;
  return { ...others, ...(html && { html: tracking ? withTracking(html, tracking) : html }) };
}

type Reading = { opening: Opening; packed: PackedSource; composed: ComposedMessages };

/** Reads the source of a message. That of a broadcast is unpacked and parsed once for its copies. */
function readShared(
  app: ContentApp,
  { values }: Rendered,
  { opening: { message }, packed, composed }: Reading,
): Promise<SharedSource> {
  const { tenantId } = message;
  const read = async (): Promise<SharedSource> => {
    const source = await readSource(app, packed, { tenantId, waitTimeoutMs: WAIT_TIMEOUT_MS });
    return { source, templates: values && parseTracked(source) };
  };
  if (values === undefined) return read();
  const key = Buffer.from(packed.sha256).toString('base64');
  const known = composed.sources.get(key);
  if (known !== undefined) return known;
  const reading = read();
  composed.sources.set(key, reading, { size: packed.sizeBytes });
  reading.catch(() => composed.sources.delete(key));
  return reading;
}

async function composeMessage(
  app: ContentApp,
  content: Rendered,
  { opening: { message, reader }, shared }: { opening: Opening; shared: SharedSource },
): Promise<OpenMessage> {
  const { id } = message;
  const { source } = shared;
  const tracked = source.tracking && {
    tracking: source.tracking,
    tokens: app.links.trackingTokens(id),
  };
  const { header, texts, end } = compose(content, shared, { boundarySeed: id, reader, tracked });
  const files = content.blobId === undefined ? undefined : await app.blobs.open(content.blobId);
  const bytes = files
    ? joined(Buffer.concat([header, ...texts]), files)
    : inMemory([header, ...texts, ...end]);
  app.crashPoint('content-after-compose');
  let hash: Promise<string> | undefined;
  return {
    bytes,
    isUnchanged: content.isCurrent && source.isUnchanged,
    header: async () => header,
    async bodyHash() {
      if (content.bodyHash !== undefined && source.isUnchanged) return content.bodyHash;
      // Only bytes in memory can always be read, so that no failure is remembered.
      if (bytes.inline === undefined) return hashBody(bytes, header.length);
      hash ??= hashBody(bytes, header.length);
      return hash;
    },
  };
}

type Composed = {
  header: Buffer;
  texts: Buffer[];
  /** The boundaries after the texts of a message without files. */
  end: Buffer[];
};

type Composition = {
  boundarySeed: string;
  reader: Reader | undefined;
  /** Set when the HTML is tracked. */
  tracked: Tracked | undefined;
};

function compose(
  content: Rendered,
  { source, templates }: SharedSource,
  { boundarySeed, reader, tracked }: Composition,
): Composed {
  const values =
    content.values && tracked ? { ...content.values, ...trackingValues(tracked) } : content.values;
  const filled = fillTexts(tracked && !values ? instrumented(source, tracked) : source, values, templates);
  const { html, text } = reader ? textsFor(filled, reader) : filled;
  const body = composeBody({ html, text, boundarySeed }, storedFileParts(source.files ?? []));
  const pieces = [...body.pieces];
  const textsEnd = pieces.indexOf(TEXTS_END);
  return {
    header: Buffer.from(`${content.fields}${reader ? fieldsFor(reader) : ''}${body.fields}\r\n`, 'latin1'),
    texts: pieces.slice(0, textsEnd),
    end: pieces.slice(textsEnd),
  };
}

/** Returns a source whose HTML has no placeholders, with its tracked links. */
function instrumented(source: Source, tracked: Tracked): Source {
  return source.html === undefined ? source : { ...source, html: instrument(source.html, tracked) };
}

function inMemory(pieces: readonly Buffer[]): MessageBytes {
  const inline = Buffer.concat(pieces);
  return { sizeBytes: inline.length, isEightBit: false, inline, chunks: () => only(inline) };
}

/** Returns the bytes of a message that begins with `head` and ends with its stored files. */
function joined(head: Buffer, files: BlobContent): MessageBytes {
  if (files.inline) return inMemory([head, files.inline]);
  return {
    sizeBytes: head.length + files.sizeBytes,
    isEightBit: files.isEightBit,
    inline: undefined,
    async *chunks() {
      yield head;
      yield* files.chunks();
    },
  };
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function hashBody(bytes: MessageBytes, headerBytes: number): Promise<string> {
  const hash = createBodyHash();
  let skippedBytes = headerBytes;
  for await (const chunk of bytes.chunks()) {
    hash.update(chunk.subarray(Math.min(skippedBytes, chunk.length)));
    skippedBytes = Math.max(0, skippedBytes - chunk.length);
  }
  return hash.digest();
}
