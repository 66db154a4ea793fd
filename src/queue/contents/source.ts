/**
 * The source of a message: its texts as they were given, from which the message is composed when it is sent. A text
 * that was generated from the HTML is not stored but generated again (read.ts). The source is packed with Deflate.
 *
 * A packed source begins with one line of JSON, which has the lengths of the texts in bytes, the origin of a generated
 * text, the placement of the files, and the positions of the tracked links. The texts follow in UTF-8.
 */
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import { DamagedBlobError } from '../../blobs/damaged.ts';
import type { ContentRow } from '../../db/email-tables.ts';
import type { Calendar } from '../../mail/message/calendar.ts';
import type { Placement } from '../../mail/message/file-part.ts';
import type { TextOrigin } from '../../mail/message/html-text.ts';
import { errorCode } from '../../system/errors.ts';
import type { Tracking } from '../../tracking/links/instrument.ts';

export type Source = {
  html?: string;
  text?: string;
  /** AMP for email, beside the HTML. */
  amp?: string;
  /** An invitation. Its bytes are also among the files of the message, and these are for the API alone. */
  calendar?: Calendar;
  /** The origin of a text that is generated from `html`. Emails of earlier versions have a generated text in `text`. */
  generated?: TextOrigin;
  /** Placement of the files, whose bytes are in the blob of the message. Absent when there are none. */
  files?: readonly Placement[];
  /** How the HTML is tracked. Absent when it is not. */
  tracking?: Tracking;
};

export type PackedSource = Pick<ContentRow, 'sizeBytes' | 'sha256' | 'source'>;

type FirstLine = Pick<Source, 'generated' | 'files' | 'tracking'> & {
  html?: number;
  text?: number;
  amp?: number;
  calendar?: { method: Calendar['method']; bytes: number };
};

/** Size from which the work moves to the thread pool. A smaller source takes 20 to 300 microseconds. */
const POOL_BYTES = 16 * 1024;
/**
 * Maximum size of the texts that one write packs itself: it takes the writer 5 ms at worst. Many small texts together
 * cost as much as a large one, and all tenants wait for the writer.
 */
const MAX_PACKED_BY_WRITE_BYTES = 16 * POOL_BYTES;
/**
 * A small window costs less memory to set up than the default one, and covers a small source completely. The level
 * bounds the search for repetitions: the writer packs small sources, for all tenants. An email of 4 KiB takes it 9 to 23
 * microseconds at level 1 and 17 to 30 at level 4, which saves 2 to 5 percent of the size. A text of two letters takes 4 ms at
 * level 6.
 */
const SMALL = { level: 1, windowBits: 14, memLevel: 6, chunkSize: 4_096 };
/** Higher levels take up to ten times as long and save a fifth. */
const LARGE = { level: 1 };
/** Maximum ratio of the sizes after and before unpacking that Deflate can reach (zlib, Technical Details). */
const MAX_EXPANSION = 1032;
/** Minimum size of an output buffer in Node. A buffer that is filled to its end makes zlib allocate another one. */
const MIN_CHUNK_BYTES = 64;
const LF = 0x0a;

const deflateInPool = promisify(deflateRaw);
const inflateInPool = promisify(inflateRaw);

/** A source on its way to the write that stores it. */
export type NewSource = Source | PackedSource;

/** Packs a source, or leaves it to the write that stores it. */
export type Pack = (source: Source) => Promise<NewSource>;

/**
 * Returns the function that packs the sources of one write in the thread pool. It leaves small ones to the write, which
 * packs them more cheaply (`packSmall`), until they are as large together as a write may pack.
 */
export function createPacking(): Pack {
  let leftBytes = MAX_PACKED_BY_WRITE_BYTES;
  return async (source) => {
    const sizeBytes = textBytes(source);
    const isSmall = sizeBytes < POOL_BYTES;
    if (isSmall && sizeBytes <= leftBytes) {
      leftBytes -= sizeBytes;
      return source;
    }
    const bytes = write(source);
    return packed(bytes, await deflateInPool(bytes, isSmall ? SMALL : LARGE));
  };
}

/** Packs a source, unless it is packed already. */
export function packSmall(source: NewSource): PackedSource {
  if ('source' in source) return source;
  const bytes = write(source);
  return packed(bytes, deflateRawSync(bytes, SMALL));
}

/** Returns the size of the texts in bytes, including a generated one. */
export function textBytes({ html = '', text = '', amp = '', calendar, generated }: Source): number {
  const texts = [html, text, amp, calendar?.content ?? ''];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), generated?.bytes ?? 0);
}

function packed(bytes: Buffer, source: Buffer): PackedSource {
  return { sizeBytes: bytes.length, sha256: hashOf(source), source };
}

/**
 * Returns the source of a stored content.
 * @throws DamagedBlobError when its bytes or their size are not those that were stored
 */
export async function unpackSource({ sizeBytes, sha256, source }: PackedSource): Promise<Source> {
  if (!hashOf(source).equals(sha256)) throw damaged('other bytes than were stored');
  // The size is checked before memory of this size is allocated.
  if (sizeBytes < 1 || sizeBytes > source.length * MAX_EXPANSION) throw damaged('an impossible size');
  const options = { chunkSize: Math.max(sizeBytes + 1, MIN_CHUNK_BYTES), maxOutputLength: sizeBytes };
  try {
    const bytes =
      sizeBytes < POOL_BYTES ? inflateRawSync(source, options) : await inflateInPool(source, options);
    if (bytes.length === sizeBytes) return read(bytes);
  } catch (error) {
    if (errorCode(error) !== 'ERR_BUFFER_TOO_LARGE') throw error;
  }
  throw damaged('another size than its bytes have');
}

function damaged(what: string): DamagedBlobError {
  return new DamagedBlobError('the database', `a row of contents holds ${what}`);
}

function write({ html, text, amp, calendar, generated, files, tracking }: Source): Buffer {
  const [page, plain, interactive, invitation] = [html, text, amp, calendar?.content].map((text) =>
    text === undefined ? undefined : Buffer.from(text),
  );
  const line: FirstLine = {
    ...(page && { html: page.length }),
    ...(plain && { text: plain.length }),
    ...(interactive && { amp: interactive.length }),
    ...(calendar && invitation && { calendar: { method: calendar.method, bytes: invitation.length } }),
    ...(generated && { generated }),
    ...(files && { files }),
    ...(tracking && { tracking }),
  };
  const first = Buffer.from(`${JSON.stringify(line)}\n`);
  const texts = [page, plain, interactive, invitation].filter((bytes) => bytes !== undefined);
  return Buffer.concat([first, ...texts]);
}

function read(bytes: Buffer): Source {
  const textsAt = bytes.indexOf(LF) + 1;
  const { html, text, amp, calendar, generated, files, tracking } = JSON.parse(
    bytes.toString('utf8', 0, textsAt),
  ) as FirstLine;
  let end = textsAt;
  const next = (length: number) => {
    const start = end;
    end += length;
    return bytes.toString('utf8', start, end);
  };
  return {
    ...(html !== undefined && { html: next(html) }),
    ...(text !== undefined && { text: next(text) }),
    ...(amp !== undefined && { amp: next(amp) }),
    ...(calendar && { calendar: { method: calendar.method, content: next(calendar.bytes) } }),
    ...(generated && { generated }),
    ...(files && { files }),
    ...(tracking && { tracking }),
  };
}

function hashOf(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}
