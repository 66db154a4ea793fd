/**
 * Reads a message as it arrives: its header is checked and prepared, its body converted to 7 bits and hashed for the signature, and both are
 * stored at the same time. Nothing of a large message is ever completely in memory.
 */
import { isAscii } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import type { App } from '../app.ts';
import type { BlobRow } from '../db/tables.ts';
import { createBodyHash } from '../mail/dkim/body-hash.ts';
import { LineEnds } from '../mail/message/crlf.ts';
import { SevenBit } from '../mail/message/seven-bit/seven-bit.ts';
import { asBuffer } from '../mail/smtp/body.ts';
import type { Reservation } from '../system/guards/byte-budget.ts';
import { overloadRefusal } from '../system/guards/overload.ts';
import { IDEMPOTENCY_FIELD, readHeader, type SubmittedHeader } from './header.ts';
import { HeaderCollector } from './header-collector.ts';

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
};

/**
 * Reads and stores a message. Large bytes are durable when it resolves. After an error no bytes stay behind. Nothing is read while the free
 * space of the disk is below its reserve.
 * @throws RefusedMessage; AppError unavailable, when the message cannot be stored; any error of `body`
 */
export async function readMessage(
  app: Pick<App, 'blobs' | 'config' | 'disk'>,
  body: AsyncIterable<Uint8Array>,
  { memory, prepareHeader }: Reading,
): Promise<StoredMessage> {
  const sevenBit = new SevenBit();
  const hash = createBodyHash();
  let given: Hash | undefined;
  let header: SubmittedHeader | undefined;
  let hasUtf8Header = false;

  /** Yields what leaves of a piece: the header, and everything else in one. Each further piece would cost as much time as a kilobyte. */
  function* converted(pieces: Iterable<Buffer>): Generator<Buffer> {
    const isHeaderPending = sevenBit.headerBytes === undefined;
    const [first, ...others] = pieces;
    if (!first) return;
    if (isHeaderPending) yield first;
    const rest = isHeaderPending ? others : [first, ...others];
    if (rest.length > 0) yield Buffer.concat(rest);
  }

  async function* pieces(): AsyncGenerator<Buffer> {
    const collector = new HeaderCollector();
    for await (const piece of linesOf(app, body)) {
      if (header) {
        given?.update(piece);
        yield* converted(sevenBit.next(piece));
        continue;
      }
      const found = collector.add(piece);
      if (!found) continue;
      header = readHeader(found.header, app.config.hostname);
      given = header.options.has(IDEMPOTENCY_FIELD) ? createHash('sha256').update(found.rest) : undefined;
      yield* converted(sevenBit.next(await prepareHeader(header)));
      yield* converted(sevenBit.next(found.rest));
    }
    if (!header) {
      header = readHeader(collector.whole(), app.config.hostname);
      yield* converted(sevenBit.next(await prepareHeader(header)));
    }
    yield* converted(sevenBit.end());
  }

  async function* hashed(): AsyncGenerator<Buffer> {
    let isHeader = true;
    for await (const piece of pieces()) {
      // The header leaves in one piece.
      if (isHeader) hasUtf8Header = !isAscii(piece);
      else hash.update(piece);
      isHeader = false;
      yield piece;
    }
  }

  const blob = await app.blobs.prepare(hashed(), (bytes) => memory.take(bytes));
  const { headerBytes } = sevenBit;
  if (!header || headerBytes === undefined) throw new Error('a message was stored without its header');
  return {
    blob,
    headerBytes,
    bodyHash: hash.digest(),
    header,
    givenHash: given?.digest('hex'),
    hasUtf8Header,
  };
}

/** Yields the message with CRLF line ends. */
async function* linesOf(
  { disk }: Pick<App, 'disk'>,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  requireReserve(disk);
  const lineEnds = new LineEnds();
  for await (const bytes of body) {
    // Many large messages together could use up the reserve.
    requireReserve(disk);
    yield lineEnds.next(asBuffer(bytes));
  }
}

/**
 * Checks that the disk has space for more mail.
 * @throws AppError unavailable
 */
function requireReserve({ isBelowReserve }: Pick<App['disk'], 'isBelowReserve'>): void {
  if (isBelowReserve) throw overloadRefusal('disk_reserve');
}
