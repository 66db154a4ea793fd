/**
 * The body of one message, which a session reads. It limits the size and the time of the message, remembers why the
 * message must be refused, and drops what a session did not read.
 */
import { ClientGone } from '../../connection/client-gone.ts';
import { readTogether } from '../../connection/pieces.ts';
import { ConnectionFault, type FaultReason } from './fault.ts';
import type { Reply } from './session.ts';

/** Bytes of a message, as DATA or BDAT brings them. */
export type BodySource = {
  /** Returns the next bytes of the message, which may be none; undefined at its end. */
  read(): Promise<Buffer | undefined>;
  /** Reads and drops what the client sends of this message after it was refused. */
  discard(): Promise<void>;
  /** Octet that the message must not have, as soon as it was seen. */
  readonly fault: BodyFault | undefined;
};

type BodyFault = Extract<FaultReason, 'bare_carriage_return' | 'null_octet' | 'message_size'>;

/** Statuses: X.3.4 is a message that is too large, X.6.0 a problem of its content (RFC 3463 sections 3.4 and 3.7). */
const REPLIES = {
  message_size: { code: 552, status: '5.3.4', text: 'The message is too large' },
  bare_carriage_return: { code: 550, status: '5.6.0', text: 'The message has a CR without LF' },
  null_octet: { code: 550, status: '5.6.0', text: 'The message has a NUL octet' },
} as const satisfies Record<BodyFault, Reply>;

/** Ends the reading of a body that is refused or was given up. */
class UnreadableBody extends Error {
  override readonly name = 'UnreadableBody';
}

/** Reports that the client has given up a message between two BDAT commands. */
export class MessageAbandoned extends Error {
  override readonly name = 'MessageAbandoned';

  constructor() {
    super('the SMTP client gave up the message');
  }
}

export class MessageBody implements AsyncIterable<Buffer> {
  readonly #source: BodySource;
  readonly #maxBytes: number;
  #sizeBytes = 0;
  #hasBegun = false;
  #isComplete = false;
  #fault: BodyFault | undefined;
  #failure: ConnectionFault | ClientGone | MessageAbandoned | undefined;

  constructor(source: BodySource, maxBytes: number) {
    this.#source = source;
    this.#maxBytes = maxBytes;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Reason why no message comes any more. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Reason and reply of a message that must be refused whatever the session says. */
  get refusal(): { reason: FaultReason; reply: Reply } | undefined {
    return this.#fault && { reason: this.#fault, reply: REPLIES[this.#fault] };
  }

  [Symbol.asyncIterator](): AsyncIterator<Buffer> {
    return {
      next: async () => {
        const value = await readTogether(() => this.#next());
        return value ? { done: false, value } : { done: true, value: undefined };
      },
    };
  }

  /** Reads and drops the rest. @throws ConnectionFault, ClientGone */
  async discard(): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (!this.#isComplete) await this.#source.discard();
  }

  async #next(): Promise<Buffer | undefined> {
    this.#hasBegun = true;
    for (;;) {
      if (this.#failure) throw this.#failure;
      if (this.#fault) throw new UnreadableBody(REPLIES[this.#fault].text);
      if (this.#isComplete) return undefined;
      const piece = await this.#source.read().catch((error: unknown) => this.#fail(error));
      this.#sizeBytes += piece?.length ?? 0;
      this.#isComplete = piece === undefined;
      this.#fault = this.#source.fault;
      if (this.#sizeBytes > this.#maxBytes) this.#fault ??= 'message_size';
      if (piece && piece.length > 0 && !this.#fault) return piece;
    }
  }

  #fail(error: unknown): never {
    if (error instanceof ConnectionFault || error instanceof ClientGone || error instanceof MessageAbandoned)
      this.#failure = error;
    throw error;
  }
}
