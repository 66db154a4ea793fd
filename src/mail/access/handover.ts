/**
 * Hands connections over after their login. The thread of the listener keeps the socket and its TLS, and passes the octets on to the
 * thread of the user's account, which serves the commands (serve-user.ts).
 */

import type { Socket } from 'node:net';
import { deflateRawSync } from 'node:zlib';
import { type StreamEnd, type StreamOwner, type StreamPort, weightOf } from '../../system/thread/streams.ts';
import type { Interruptible } from '../connection/listener.ts';
import type { Unread } from '../connection/wire.ts';
import type { AccessContext } from './connection.ts';
import { ConnectionFault, type FaultReason } from './fault.ts';
import { openWire } from './wire.ts';

/** A stream to the thread of an account that waits to serve the rest of a connection. */
export class Handover {
  readonly #port: StreamPort;
  readonly #stream: number;
  #isTaken = false;

  constructor(port: StreamPort, stream: number) {
    this.#port = port;
    this.#stream = stream;
  }

  take(owner: StreamOwner): StreamEnd {
    this.#isTaken = true;
    return this.#port.open(this.#stream, owner);
  }

  /** Tells the thread of the account that nothing follows a login, unless the stream was taken. */
  discard(): void {
    if (!this.#isTaken) this.take(NOBODY).close();
  }
}

const NOBODY: StreamOwner = { onOctets() {}, onDrained() {}, onNote() {}, onEnded() {}, onClosed() {} };

/** Notes of the thread of the listener. `head` is what the protocol says of the connection. */
export type ListenerNote =
  | { kind: 'begin'; head: unknown }
  /** The connection ends before its next command. */
  | { kind: 'interrupt'; reason: FaultReason; text: string | undefined };

/** Notes of the thread of the account. */
export type UserNote =
  /** Says that the octets behind this note are compressed, in both directions. */
  | { kind: 'compressed' }
  /** The server ends the connection. */
  | { kind: 'fault'; reason: FaultReason };

type Ending = { formatEnd(fault: ConnectionFault): string };

/** Passes octets between a client and the thread of its account, until the connection has ended. */
export class Relay implements StreamOwner, Interruptible<ConnectionFault> {
  readonly #context: Pick<AccessContext, 'clock' | 'metrics'>;
  readonly #ending: Ending;
  readonly #socket: Socket;
  readonly #lostText: string;
  readonly #end: StreamEnd;
  #isCompressed = false;
  #hasEnded = false;

  /** Begins with what the client has sent already. */
  constructor(
    context: Pick<AccessContext, 'clock' | 'metrics'>,
    {
      socket,
      unread,
      handover,
      head,
      lostText,
    }: { socket: Socket; unread: Unread; handover: Handover; head: unknown; lostText: string },
    ending: Ending,
  ) {
    this.#context = context;
    this.#ending = ending;
    this.#socket = socket;
    this.#lostText = lostText;
    this.#end = handover.take(this);
    this.#note({ kind: 'begin', head });
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onClose);
    if (socket.destroyed) this.#onClose();
    else socket.resume();
    for (const octets of unread.octets) this.#onData(octets);
    if (unread.hasEnded) this.#onEnd();
  }

  interrupt({ reason, text }: ConnectionFault): void {
    this.#note({ kind: 'interrupt', reason, text });
  }

  onOctets(octets: Buffer): void {
    // The account may send more as soon as these have left, while others still wait.
    const weight = weightOf(octets);
    this.#socket.write(octets, () => this.#end.taken(weight));
  }

  onDrained(): void {
    this.#socket.resume();
  }

  onNote(note: unknown): void {
    const received = note as UserNote;
    if (received.kind === 'compressed') this.#isCompressed = true;
    else this.#context.metrics.ended(received.reason);
  }

  /** Ends the connection after its last response, which the client has some seconds to read. */
  onEnded(): void {
    this.#hasEnded = true;
    const socket = this.#socket;
    socket.off('data', this.#onData).off('end', this.#onEnd);
    openWire(this.#context.clock, socket).end();
  }

  onClosed(isLost: boolean): void {
    if (this.#hasEnded || this.#socket.destroyed) return;
    // The account has ended the connection of a client that did not read, which may be in the middle of an answer.
    if (!isLost) {
      this.onEnded();
      return;
    }
    const fault = new ConnectionFault('session', this.#lostText);
    this.#context.metrics.ended(fault.reason);
    const text = Buffer.from(this.#ending.formatEnd(fault));
    // Compressed data that ends with a flush can be continued by what knows nothing of it.
    this.#socket.write(this.#isCompressed ? deflateRawSync(text) : text);
    this.onEnded();
  }

  readonly #onData = (octets: Buffer): void => {
    if (!this.#end.send([octets])) this.#socket.pause();
  };

  readonly #onEnd = (): void => this.#end.end();

  readonly #onClose = (): void => this.#end.close();

  #note(note: ListenerNote): void {
    this.#end.note(note);
  }
}
