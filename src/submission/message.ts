/**
 * Reads a message as it arrives: its header is checked and prepared, its body converted to 7 bits in short lines and hashed for the
 * signature, and both are stored at the same time. Nothing of a large message is ever completely in memory.
 */
import { isAscii } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import type { App } from '../app.ts';
import type { BlobRow } from '../db/tables.ts';
import { createBodyHash } from '../mail/dkim/body-hash.ts';
import { MAX_HEADER_BYTES } from '../mail/header-limits.ts';
import { LineEnds } from '../mail/message/crlf.ts';
import { SevenBit } from '../mail/message/seven-bit/seven-bit.ts';
import { asBuffer } from '../mail/smtp/body.ts';
import { RefusedMessage } from '../mail/smtp/refused-message.ts';
import type { Reservation } from '../system/guards/byte-budget.ts';
import { requireReserve } from '../system/guards/overload.ts';
import { IDEMPOTENCY_FIELD, readHeader, type SubmittedHeader } from './header.ts';

/** Space in a header for the fields that are added here, and where the message is received. */
const ADDED_BYTES = 4 * 1024;
const LINE_END = '\r\n';
const HEADER_END = '\r\n\r\n';
/** Number of octets of the end of a header that may be in an earlier piece than its last one. */
const SEAM_BYTES = HEADER_END.length - 1;

export type StoredMessage = {
  /** The bytes as they are stored. The caller commits or discards them. */
  blob: BlobRow;
  /** Size of the stored header with its empty line. */
  headerBytes: number;
  /** Hash of the stored body for DKIM. */
  bodyHash: string;
  header: SubmittedHeader;
  /**
   * Hash of the body as it was handed over, for a message with an idempotency key; undefined for others. The stored body of the same message
   * may differ, since long lines with octets above 127 are cut where the octets happened to arrive in pieces.
   */
  givenHash: string | undefined;
  /** True when the stored header has octets above 127. */
  hasUtf8Header: boolean;
};

type Reading = {
  /** Counts the bytes that are held until the message is committed. */
  memory: Reservation;
  /**
   * Checks the header, and returns it as it is stored.
   * @throws RefusedMessage
   */
  prepareHeader: (header: SubmittedHeader) => Promise<Buffer>;
  /** True when the client asked for SMTPUTF8, so that headers may keep their UTF-8 (RFC 6531 section 3.2). */
  keepsUtf8: boolean;
};

/**
 * Reads and stores a message. Large bytes are durable when it resolves. After an error no bytes stay behind. Nothing is read while the free
 * space of the disk is below its reserve.
 * @throws RefusedMessage; AppError unavailable, when the message cannot be stored; any error of `body`
 */
export async function readMessage(
  app: Pick<App, 'blobs' | 'config' | 'disk'>,
  body: AsyncIterable<Uint8Array>,
  { memory, prepareHeader, keepsUtf8 }: Reading,
): Promise<StoredMessage> {
  const sevenBit = new SevenBit({ keepsUtf8 });
  const hash = createBodyHash();
  const collector = new HeaderCollector();
  let given: Hash | undefined;
  let header: SubmittedHeader | undefined;
  let hasUtf8Header: boolean | undefined;

  async function begin(bytes: Buffer): Promise<Buffer[]> {
    header = readHeader(bytes, app.config.hostname);
    given = header.options.has(IDEMPOTENCY_FIELD) ? createHash('sha256') : undefined;
    return sevenBit.next(await prepareHeader(header));
  }

  /** Returns what leaves of a piece. */
  async function convert(piece: Buffer): Promise<Buffer[]> {
    const found = header ? { rest: piece } : collector.add(piece);
    if (!found) return [];
    const first = 'header' in found ? await begin(found.header) : [];
    given?.update(found.rest);
    return [...first, ...sevenBit.next(found.rest)];
  }

  /** Yields the header, and everything else in one, because each further piece would cost as much time as a kilobyte. */
  function* surveyed(leaving: readonly Buffer[]): Generator<Buffer> {
    const [first, ...others] = leaving;
    if (!first) return;
    const isHeader = hasUtf8Header === undefined;
    hasUtf8Header ??= !isAscii(first);
    if (isHeader) yield first;
    const rest = isHeader ? others : leaving;
    const [only] = rest;
    if (!only) return;
    const whole = rest.length === 1 ? only : Buffer.concat(rest);
    hash.update(whole);
    yield whole;
  }

  /** One generator does all, because each one that a piece passes costs as much as hashing a small message. */
  async function* pieces(): AsyncGenerator<Buffer> {
    requireReserve(app.disk);
    const lineEnds = new LineEnds();
    for await (const bytes of body) {
      // Many large messages together could use up the reserve.
      requireReserve(app.disk);
      for (const piece of surveyed(await convert(lineEnds.next(asBuffer(bytes))))) yield piece;
    }
    if (!header) for (const piece of surveyed(await begin(collector.whole()))) yield piece;
    for (const piece of surveyed(sevenBit.end())) yield piece;
  }

  const blob = await app.blobs.prepare(pieces(), (bytes) => memory.take(bytes));
  const { headerBytes } = sevenBit;
  if (!header || headerBytes === undefined) throw new Error('a message was stored without its header');
  return {
    blob,
    headerBytes,
    bodyHash: hash.digest(),
    header,
    givenHash: given?.digest('hex'),
    hasUtf8Header: hasUtf8Header === true,
  };
}

/** Each octet is read a few times, however small the pieces are. */
export class HeaderCollector {
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  /** End of what was taken so far. A line end stands before the message, so that a message can begin with the empty line. */
  #tail: Buffer = Buffer.from(LINE_END);

  /**
   * Takes the next piece. Returns the header with its last CRLF, and what follows the empty line; undefined while the empty line has not come.
   * @throws RefusedMessage for a header that is too large
   */
  add(piece: Buffer): { header: Buffer; rest: Buffer } | undefined {
    const seam = Buffer.concat([this.#tail, piece]);
    const seamAt = this.#bytes - this.#tail.length;
    const end = seam.indexOf(HEADER_END);
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    this.#tail = seam.subarray(-SEAM_BYTES);
    const headerBytes = end < 0 ? this.#bytes : seamAt + end + LINE_END.length;
    if (headerBytes > MAX_HEADER_BYTES - ADDED_BYTES)
      throw new RefusedMessage({
        code: 550,
        status: '5.6.0',
        text: 'The header of the message is too large',
      });
    if (end < 0) return undefined;
    const bytes = this.whole();
    return {
      header: bytes.subarray(0, headerBytes),
      rest: bytes.subarray(headerBytes + LINE_END.length),
    };
  }

  /** Returns everything that was taken: the header of a message without an empty line. */
  whole(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
