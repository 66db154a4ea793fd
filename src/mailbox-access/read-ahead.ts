/**
 * Reads messages of a maildrop from another thread. Most clients take one message after the other, so the next ones are asked for
 * together with a message that follows the one before: first one, then twice as many each time. What comes waits here in part of a
 * chunk, and in the few chunks that the link holds.
 */

import type { RemoteMaildrop } from '../accounts/remote.ts';
import type { Chunks } from '../mail/pop3/session.ts';
import { toRefusal } from './pop3-refusal.ts';

/** Octets of some messages, one after the other, and the refusal that ends them when not all of them can be read. */
type Messages = ReturnType<RemoteMaildrop['retrieve']>;

/** Maximum number of messages that are asked for at once. Each time costs less than a tenth of a millisecond. Our own limit. */
const MAX_MESSAGES = 1_024;
const NOTHING = Buffer.alloc(0);

export class ReadAhead {
  readonly #sizes: Uint32Array;
  readonly #read: RemoteMaildrop['retrieve'];
  #messages: Messages | undefined;
  /** Octets that have come and were not asked for yet. */
  #rest: Buffer = NOTHING;
  /** Index of the message that begins with the rest, and of the first one behind those that were asked for. */
  #next = 0;
  #end = 0;
  #count = 1;

  /** Reads nothing yet. `sizes` are the exact sizes of all messages. */
  constructor(sizes: Uint32Array, read: RemoteMaildrop['retrieve']) {
    this.#sizes = sizes;
    this.#read = read;
  }

  /** Returns a message when all of it has come, and otherwise what yields it. Whoever reads it to its end reads the one behind it faster. */
  read(index: number): Buffer | Chunks {
    const size = this.#sizes[index] as number;
    if (index !== this.#next || size > this.#rest.length) return this.#readPieces(index);
    this.#next++;
    return this.#take(size);
  }

  async *#readPieces(index: number): Chunks {
    const messages = await this.#find(index);
    let left = this.#sizes[index] as number;
    try {
      while (left > 0) {
        if (this.#rest.length === 0) {
          const next = await messages.next();
          if (next.done) return next.value ? toRefusal(next.value) : raise(`message ${index} is too short`);
          this.#rest = next.value;
        }
        const piece = this.#take(left);
        left -= piece.length;
        yield piece;
      }
      return undefined;
    } finally {
      // A client that wants only the first lines often wants those of the next message, too.
      if (left > this.#rest.length) await this.stop();
      else this.#take(left);
      this.#next = index + 1;
    }
  }

  /** Ends what is read ahead. */
  async stop(): Promise<void> {
    this.#rest = NOTHING;
    await this.#messages?.return(undefined);
    this.#messages = undefined;
  }

  /** Returns at most this number of the octets that have come. */
  #take(octets: number): Buffer {
    const taken = this.#rest.subarray(0, octets);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  /** Returns the octets that begin with this message. */
  async #find(index: number): Promise<Messages> {
    const follows = index === this.#next;
    if (this.#messages && follows && index < this.#end) return this.#messages;
    await this.stop();
    this.#count = follows ? Math.min(2 * this.#count, MAX_MESSAGES) : 1;
    this.#end = index + this.#count;
    this.#messages = this.#read(index, this.#count);
    return this.#messages;
  }
}

function raise(message: string): never {
  throw new Error(message);
}
