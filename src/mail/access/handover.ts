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
import { type AnswersAhead, ForeseenAnswers } from './foreseen-answers.ts';
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
  /** The octets that follow begin with this number of commands whose answers have left. */
  | { kind: 'answered'; commands: number }
  /** The connection ends before its next command. */
  | { kind: 'interrupt'; reason: FaultReason; text: string | undefined };

/** Notes of the thread of the account. */
export type UserNote =
  /** Says that the octets behind this note are compressed, in both directions. */
  | { kind: 'compressed' }
  | { kind: 'ahead'; ahead: AnswersAhead }
  /** The server ends the connection. */
  | { kind: 'fault'; reason: FaultReason };

/** Time after which a command that was answered here is reported at once: the thread of the account ends clients that are silent. */
const MAX_UNREPORTED_MS = 1_000;

type Ending = { formatEnd(fault: ConnectionFault): string };

/** Passes octets between a client and the thread of its account, until the connection has ended. */
export class Relay implements StreamOwner, Interruptible<ConnectionFault> {
  readonly #context: Pick<AccessContext, 'clock' | 'metrics'>;
  readonly #ending: Ending;
  readonly #socket: Socket;
  readonly #lostText: string;
  readonly #end: StreamEnd;
  readonly #foreseen = new ForeseenAnswers();
  /** Commands that were answered here, and when the thread of the account was last sent octets. */
  #answered: Buffer[] = [];
  #sentAt = 0;
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
    else if (received.kind === 'ahead') this.#foreseen.add(received.ahead);
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
    const answer = this.#foreseen.take(octets, this.#socket.writableLength === 0);
    if (answer) this.#answer(octets, answer);
    else this.#send([octets]);
  };

  #answer(command: Buffer, answer: Uint8Array): void {
    this.#socket.write(answer);
    this.#answered.push(command);
    const isRecent = this.#context.clock.now() - this.#sentAt < MAX_UNREPORTED_MS;
    if (this.#foreseen.isLow || !isRecent) this.#send([]);
  }

  /** Sends commands that were answered here, and the octets behind them. */
  #send(octets: readonly Buffer[]): void {
    const answered = this.#answered;
    this.#answered = [];
    this.#sentAt = this.#context.clock.now();
    if (answered.length > 0) this.#note({ kind: 'answered', commands: answered.length });
    if (!this.#end.send([...answered, ...octets])) this.#socket.pause();
  }

  readonly #onEnd = (): void => {
    this.#send([]);
    this.#end.end();
  };

  readonly #onClose = (): void => this.#end.close();

  #note(note: ListenerNote): void {
    this.#end.note(note);
  }
}
