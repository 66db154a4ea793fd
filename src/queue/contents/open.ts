/** Opens the bytes of a message: it reads those of a stored message, and composes those of a rendered one. */
import { LRUCache } from 'lru-cache';
import { type BlobContent, INLINE_BYTES } from '../../blobs/blobs.ts';
import type { MessageRow } from '../../db/tables.ts';
import type { Links } from '../../links/links.ts';
import { createBodyHash } from '../../mail/dkim/body-hash.ts';
import { composeBody, TEXTS_END } from '../../mail/message/compose.ts';
import { storedFileParts } from '../../mail/message/file-part.ts';
import { ConcurrencyLimiter } from '../../system/concurrency-limiter.ts';
import { createPause, nextSlice, runForOwner } from '../../system/slices.ts';
import { instrument, type Tracked, trackingValues, withTracking } from '../../tracking/links/instrument.ts';
import type { SendingApp } from '../sending-app.ts';
import { contentOf, fillTexts, type MessageContent, parseTexts, type TextTemplates } from './content.ts';
import type { HandedSources } from './handed.ts';
import { type Composed, type Large, LargeMessages } from './large.ts';
import type { Precedence } from './precedence.ts';
import { type ReadSource, readSource } from './read.ts';
import { fieldsFor, type Reader, textsFor } from './reader.ts';
import { type NewSource, type PackedSource, type Source, textBytes } from './source.ts';
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

type ContentApp = Pick<SendingApp, 'blobs' | 'clock' | 'db' | 'htmlText' | 'crashPoint'> & {
  links: Links;
  /** Sources that those who accept mail have handed over; absent where mail is only shown. */
  handed?: Pick<HandedSources, 'take'>;
  /** Absent where mail is only shown. */
  precedence?: Pick<Precedence, 'wait'>;
};

/**
 * Messages that were composed a moment ago. A message with recipients at many sites is opened for each of them, and
 * composing it takes several milliseconds of the main thread.
 */
export type ComposedMessages = {
  /** Messages with texts of some size, in memory. */
  messages: LRUCache<string, Promise<OpenMessage>>;
  /** Messages with large texts, in files. */
  large: LargeMessages;
  /** The large copies that are being composed. */
  copies: ConcurrencyLimiter;
  /** Sources that copies were composed from a moment ago, by the hash of their bytes. All copies of a broadcast share one. */
  sources: LRUCache<string, Promise<SharedSource>>;
};

type SharedSource = { source: ReadSource; templates: TextTemplates | undefined };

/** Maximum number of composed messages that are remembered in memory, of at most half a megabyte each. */
const MAX_COMPOSED = 16;
/** Maximum number of large copies that are composed at the same time, one of them for one tenant. */
const MAX_COPIES = 2;
/** Size of the texts from which a copy waits for urgent mail. A smaller one takes a turn of the event loop of about a millisecond. */
const MIN_YIELDING_BYTES = 64 * 1024;
/** Maximum number of sources that are remembered, and of their bytes together. */
const MAX_SOURCES = 64;
const MAX_SOURCE_BYTES = 16 * 1024 * 1024;
/** Size of the texts from which a composed message is remembered. Smaller ones take a fraction of a millisecond. */
const MIN_REMEMBERED_BYTES = 16 * 1024;
/**
 * Size of the stored texts from which a message is composed into a file. Its generated text, which is not stored, is
 * seldom as long as its HTML.
 */
const LARGE_BYTES = INLINE_BYTES / 2;

/**
 * Maximum time that a delivery waits for a thread that generates text, in milliseconds. It is much longer than that of
 * a request: nobody waits for the delivery, and a later attempt would need the same work.
 */
const WAIT_TIMEOUT_MS = 60_000;

/** Returns an empty memory. `maxLargeBytes` bounds the texts whose messages are kept in files. */
export function rememberComposed(maxLargeBytes?: number): ComposedMessages {
  return {
    messages: new LRUCache({ max: MAX_COMPOSED }),
    large: new LargeMessages(maxLargeBytes),
    copies: new ConcurrencyLimiter({ maxRunning: MAX_COPIES, perFree: 1 }),
    sources: new LRUCache({ max: MAX_SOURCES, maxSize: MAX_SOURCE_BYTES }),
  };
}

type Opening = {
  message: OpenedRow;
  /** The reader of marketing mail. */
  reader?: Reader | undefined;
  /** Fields that follow those of the message (reader.ts). */
  complaintFields?: string;
};

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

type OpenedRow = Parameters<typeof contentOf>[0] & Pick<MessageRow, 'tenantId'>;
type Rendered = Extract<MessageContent, { kind: 'rendered' }>;

async function openRendered(
  app: ContentApp,
  content: Rendered,
  { opening, composed }: { opening: Opening; composed: ComposedMessages },
): Promise<OpenMessage> {
  const kept = app.handed?.take(opening.message.id) ?? (await readPacked(app, content));
  const sizeBytes = 'source' in kept ? kept.sizeBytes : textBytes(kept);
  // Each reader has other bytes, which nobody asks for twice.
  if (sizeBytes < MIN_REMEMBERED_BYTES || opening.reader) {
    const shared = await readShared(app, content, { opening, kept, composed });
    if (sizeBytes < MIN_REMEMBERED_BYTES) return openInMemory(app, content, { opening, shared });
    return openLargeCopy(app, content, { opening, shared, sizeBytes, composed });
  }
  if (sizeBytes > LARGE_BYTES) return openInFile(app, content, { opening, sizeBytes, composed });
  const { id } = opening.message;
  const known = composed.messages.get(id);
  if (known !== undefined) return known;
  const composing = readShared(app, content, { opening, kept, composed }).then((shared) =>
    openInMemory(app, content, { opening, shared }),
  );
  composed.messages.set(id, composing);
  composing.catch(() => composed.messages.delete(id));
  return composing;
}

/**
 * Composes and hashes a large copy, which takes some milliseconds. Each copy begins in a turn of the event loop of its own and waits for
 * the one before it: the steps of other mail take a turn each, and a turn with the copies of all sessions would last as long as these.
 * A copy of which a turn lasts long waits while urgent mail is under way.
 */
function openLargeCopy(
  app: ContentApp,
  content: Rendered,
  { composed, sizeBytes, ...copy }: WithSource & { sizeBytes: number; composed: ComposedMessages },
): Promise<OpenMessage> {
  const { tenantId: owner } = copy.opening.message;
  const isLong = sizeBytes >= MIN_YIELDING_BYTES;
  const pause = async () => {
    if (isLong) await app.precedence?.wait();
    await nextSlice();
  };
  const open = async () => {
    await pause();
    const opened = await openInMemory(app, content, copy);
    if (isLong) await pause();
    await opened.bodyHash();
    return opened;
  };
  return composed.copies.run(() => runForOwner(owner, open), { owner });
}

async function readPacked(app: ContentApp, { contentId }: Rendered): Promise<PackedSource> {
  const packed = await findContent(app.db.read, contentId);
  if (!packed) throw new Error(`content ${contentId} does not exist`);
  app.crashPoint('content-after-read');
  return packed;
}

/** Finds the placeholders of the texts of a source, tracked links among them. */
function parseTracked(source: Source): TextTemplates {
  const { html, ...others } = parseTexts(source);
  const { tracking } = source;
  return { ...others, ...(html && { html: tracking ? withTracking(html, tracking) : html }) };
}

type Reading = { opening: Opening; kept: NewSource; composed: ComposedMessages };

/** Reads the source of a message. That of a broadcast is unpacked and parsed once for its copies. */
function readShared(
  app: ContentApp,
  { values }: Rendered,
  { opening: { message }, kept, composed }: Reading,
): Promise<SharedSource> {
  const { tenantId } = message;
  const read = async (): Promise<SharedSource> => {
    const source = await readSource(app, kept, { tenantId, waitTimeoutMs: WAIT_TIMEOUT_MS });
    return { source, templates: values && parseTracked(source) };
  };
  if (values === undefined || !('source' in kept)) return read();
  const key = Buffer.from(kept.sha256).toString('base64');
  const known = composed.sources.get(key);
  if (known !== undefined) return known;
  const reading = read();
  composed.sources.set(key, reading, { size: kept.sizeBytes });
  reading.catch(() => composed.sources.delete(key));
  return reading;
}

type WithSource = { opening: Opening; shared: SharedSource };

async function openInMemory(
  app: ContentApp,
  content: Rendered,
  { opening, shared }: WithSource,
): Promise<OpenMessage> {
  const { header, pieces, isUnchanged } = compose(app, content, { opening, shared });
  const head = [header, ...(await inSlices(app.clock, pieces))];
  const files = content.blobId === undefined ? undefined : await app.blobs.open(content.blobId);
  const bytes = files ? joined(inMemory(head), files) : inMemory(head);
  app.crashPoint('content-after-compose');
  let hash: Promise<string> | undefined;
  return {
    bytes,
    isUnchanged,
    header: async () => header,
    async bodyHash() {
      if (content.bodyHash !== undefined && shared.source.isUnchanged) return content.bodyHash;
      // Only bytes in memory can always be read, so that no failure is remembered.
      if (bytes.inline === undefined) return hashBody(app.clock, bytes, header.length);
      hash ??= hashBody(app.clock, bytes, header.length);
      return hash;
    },
  };
}

/** Opens a message whose texts are composed into a file. Nothing in memory is as large as its texts. */
async function openInFile(
  app: ContentApp,
  content: Rendered,
  { opening, sizeBytes, composed }: { opening: Opening; sizeBytes: number; composed: ComposedMessages },
): Promise<OpenMessage> {
  const { id, tenantId } = opening.message;
  const large: Large = {
    id,
    tenantId,
    sizeBytes,
    async compose() {
      // The texts are read when a slot is free, so that those of waiting messages are not in memory.
      const kept = await readPacked(app, content);
      const shared = await readShared(app, content, { opening, kept, composed });
      return compose(app, content, { opening, shared });
    },
  };
  const { file, header, isUnchanged, bodyHash } = await composed.large.open(app, large);
  const files = content.blobId === undefined ? undefined : await app.blobs.open(content.blobId);
  const head: MessageBytes = {
    sizeBytes: file.sizeBytes,
    isEightBit: false,
    inline: undefined,
    chunks: () => composed.large.read(app, large),
  };
  const bytes = files ? joined(head, files) : head;
  app.crashPoint('content-after-compose');
  return {
    bytes,
    isUnchanged,
    header: async () => header,
    async bodyHash() {
      if (content.bodyHash !== undefined && isUnchanged) return content.bodyHash;
      return files ? hashBody(app.clock, bytes, header.length) : bodyHash;
    },
  };
}

/** Composes a message up to its stored files, or whole when it has none. */
function compose(
  app: ContentApp,
  content: Rendered,
  { opening, shared: { source, templates } }: WithSource,
): Composed {
  const { message, reader, complaintFields = '' } = opening;
  const { id } = message;
  const tracked = source.tracking && {
    tracking: source.tracking,
    tokens: app.links.trackingTokens(id),
  };
  const values =
    content.values && tracked ? { ...content.values, ...trackingValues(tracked) } : content.values;
  const filled = fillTexts(tracked && !values ? instrumented(source, tracked) : source, values, templates);
  const { html, text, amp } = reader ? textsFor(filled, reader) : filled;
  const body = composeBody({ html, text, amp, boundarySeed: id }, storedFileParts(source.files ?? []));
  const fields = `${content.fields}${reader ? fieldsFor(reader) : ''}`;
  return {
    header: Buffer.from(`${fields}${complaintFields}${body.fields}\r\n`),
    pieces: content.blobId === undefined ? body.pieces : untilTextsEnd(body.pieces),
    isUnchanged: content.isCurrent && source.isUnchanged,
  };
}

function* untilTextsEnd(pieces: Iterable<Buffer>): Generator<Buffer> {
  for (const piece of pieces) {
    if (piece === TEXTS_END) return;
    yield piece;
  }
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
function joined(head: MessageBytes, files: BlobContent): MessageBytes {
  if (head.inline && files.inline) return inMemory([head.inline, files.inline]);
  return {
    sizeBytes: head.sizeBytes + files.sizeBytes,
    isEightBit: files.isEightBit,
    inline: undefined,
    async *chunks() {
      yield* head.chunks();
      yield* files.chunks();
    },
  };
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Returns all pieces. A large copy is composed in slices, between which this thread does other work. */
async function inSlices(clock: ContentApp['clock'], pieces: Iterable<Buffer>): Promise<Buffer[]> {
  const pause = createPause(clock);
  const composed: Buffer[] = [];
  for (const piece of pieces) {
    composed.push(piece);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return composed;
}

/** Number of bytes that are hashed at a time, in less than a millisecond. */
const HASHED_BYTES = 128 * 1024;

async function hashBody(
  clock: ContentApp['clock'],
  bytes: MessageBytes,
  headerBytes: number,
): Promise<string> {
  const pause = createPause(clock);
  const hash = createBodyHash();
  let skippedBytes = headerBytes;
  for await (const chunk of bytes.chunks()) {
    for (let begin = Math.min(skippedBytes, chunk.length); begin < chunk.length; begin += HASHED_BYTES) {
      hash.update(chunk.subarray(begin, begin + HASHED_BYTES));
      const pausing = pause();
      if (pausing !== undefined) await pausing;
    }
    skippedBytes = Math.max(0, skippedBytes - chunk.length);
  }
  return hash.digest();
}
