/**
 * Hands mail for domains that are received here from the delivery thread to the main thread. A message crosses with its first
 * octets, which are all of most messages, and the main thread fetches the others piece by piece as it takes them.
 */
import { MessageChannel, type MessagePort, type Transferable } from 'node:worker_threads';
import { createPortCalls, servePortCalls } from '../../system/thread/calls.ts';
import type { LocalAnswer, LocalMessage, LocalReceiver } from '../local-receiver.ts';

/** A message as it crosses. The port serves the pieces that follow the first one; it is undefined when none do. */
type HandedMail = Omit<LocalMessage, 'bytes'> & {
  first: Uint8Array;
  rest: MessagePort | undefined;
};

/** The function of the main thread that receives mail. */
export type ReceiveCalls = {
  receive(mail: HandedMail, transfer?: readonly Transferable[]): Promise<readonly LocalAnswer[]>;
};

/** The function of the delivery thread that returns the next piece of a message; undefined after the last one. */
type PieceCalls = { next(input: undefined): Promise<Uint8Array | undefined> };

/** Number of octets from which a piece is not joined with the next one. A message that is stored in the database is not longer. */
const PIECE_BYTES = 256 * 1024;

/** Returns the receiver of the delivery thread, which hands mail to the main thread. */
export function createRemoteReceiver(host: ReceiveCalls): LocalReceiver {
  return async ({ bytes, ...envelope }) => {
    const pieces = new Pieces(bytes());
    try {
      const first = (await pieces.next()) ?? new Uint8Array();
      if (pieces.isOver) return await host.receive({ ...envelope, first, rest: undefined });
      const { port1, port2 } = new MessageChannel();
      servePortCalls(port1, { next: () => pieces.next() });
      try {
        return await host.receive({ ...envelope, first, rest: port2 }, [port2]);
      } finally {
        port1.close();
      }
    } catch (error) {
      // An error of the bytes has a class of its own here, which it loses on its way to the main thread and back.
      throw pieces.error ?? error;
    } finally {
      await pieces.close();
    }
  };
}

/** Returns the function of the main thread, over its receiver. */
export function receiveHanded(receiveLocally: LocalReceiver): ReceiveCalls['receive'] {
  return ({ first, rest, ...envelope }) =>
    receiveLocally({ ...envelope, bytes: () => joined(first, rest && createPortCalls<PieceCalls>(rest)) });
}

async function* joined(first: Uint8Array, rest: PieceCalls | undefined): AsyncGenerator<Uint8Array> {
  yield first;
  if (!rest) return;
  for (let piece = await rest.next(undefined); piece; piece = await rest.next(undefined)) yield piece;
}

/** The octets of a message in pieces of some size, each in memory of its own: a message to another thread copies whole memories. */
class Pieces {
  readonly #chunks: AsyncIterator<Uint8Array>;
  /** True after the last piece. */
  isOver = false;
  /** The error with which the bytes ended. */
  error: unknown;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  /** Returns the next piece; undefined when there is none. */
  async next(): Promise<Uint8Array | undefined> {
    const chunks: Uint8Array[] = [];
    let sizeBytes = 0;
    try {
      while (!this.isOver && sizeBytes < PIECE_BYTES) {
        const { done, value } = await this.#chunks.next();
        if (done) this.isOver = true;
        else {
          chunks.push(value);
          sizeBytes += value.length;
        }
      }
    } catch (error) {
      this.error = error;
      throw error;
    }
    if (sizeBytes === 0) return undefined;
    const piece = new Uint8Array(sizeBytes);
    let offset = 0;
    for (const chunk of chunks) {
      piece.set(chunk, offset);
      offset += chunk.length;
    }
    return piece;
  }

  /** Ends the bytes early, so that their file is closed. */
  async close(): Promise<void> {
    if (!this.isOver && this.error === undefined) await this.#chunks.return?.();
  }
}
