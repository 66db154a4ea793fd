/**
 * Messages between the thread of a connection (remote.ts) and the thread of its account (serve-remote.ts). One port carries the
 * sessions of all connections between two threads, because each port costs every wait for messages a little.
 */
import type {
  Account,
  AppendCatenation,
  AppendLiteral,
  Features,
  MessagePart,
  Messages,
  Refusal,
  SelectedMailbox,
  Selection,
} from '../mail/imap/session.ts';
import type { EncodedError } from '../system/encoded-error.ts';
import type { AccountMaildrop } from './account-maildrop.ts';

/** Methods that answer with one value, with their arguments. */
export type ValueMethods = Pick<
  Account,
  'status' | 'quota' | 'setMetadata' | 'create' | 'delete' | 'rename' | 'subscribe' | 'unsubscribe'
> &
  Pick<SelectedMailbox, 'cancelUpdates' | 'copy' | 'move' | 'expunge'> &
  Pick<AccountMaildrop, 'openMaildrop' | 'quitMaildrop'>;

/** Methods that answer with chunks. */
export type ChunkMethods = Pick<Account, 'list' | 'getMetadata' | 'notify' | 'accountChanges'> &
  Pick<SelectedMailbox, 'fetch' | 'store' | 'search' | 'changes'> &
  Pick<AccountMaildrop, 'retrieve'>;

/** A call of a method. Its arguments are those of the method. */
export type Request =
  | { kind: 'value'; name: keyof ValueMethods; args: readonly unknown[] }
  | { kind: 'chunks'; name: keyof ChunkMethods; args: readonly unknown[] }
  /** `parts` are the first ones of the messages. */
  | { kind: 'append'; mailbox: string; replaced: Messages | undefined; parts: Pulled[] }
  | { kind: 'select'; args: Parameters<Account['select']> }
  | { kind: 'close'; args: Parameters<SelectedMailbox['close']> };

/** A selection without its object, which the thread of the connection makes anew. */
export type SelectionData = Omit<Selection, 'selected'>;

/** A part of the messages of APPEND, in the order in which the client sends them. */
export type Pulled =
  | { kind: 'message'; message: Omit<AppendLiteral, 'content'> | Omit<AppendCatenation, 'content'> }
  /** There is no further message. */
  | { kind: 'end' }
  | { kind: 'content'; bytes: Uint8Array<ArrayBuffer>; isLast: boolean }
  /** A part of a message that is put together. The octets of a text follow. */
  | { kind: 'part'; part: MessagePart }
  /** The client has closed the connection, or has sent something other than the part. */
  | { kind: 'failed' };

/** Messages of one session to the thread of its account. */
export type ToAccount = { session: number } & (
  | { kind: 'call'; call: number; request: Request }
  /** The connection has taken this number of further chunks. */
  | { kind: 'taken'; call: number; chunks: number }
  /** No further chunk is wanted. */
  | { kind: 'stop'; call: number }
  /** The part that was asked for, and those that follow it. */
  | { kind: 'pulled'; call: number; parts: Pulled[] }
  | { kind: 'enable'; features: Features }
  /** The thread of the connection wants to know of changes of the account and of the selected mailbox. */
  | { kind: 'watch' }
  | { kind: 'unwatch' }
  /** The connection has ended. Nothing follows. */
  | { kind: 'end' }
);

/** An event of a call. Nothing follows `done` and `failed`. */
export type CallEvent =
  | { kind: 'chunk'; bytes: Uint8Array<ArrayBuffer> }
  /** Asks for the next message of APPEND, or for the next content of the message. */
  | { kind: 'pull'; what: 'message' | 'content' }
  | { kind: 'done'; value: unknown }
  | { kind: 'failed'; error: EncodedError };

/** Messages to the thread of the connections. */
export type FromAccount = { session: number } & (
  | { kind: 'event'; call: number; event: CallEvent }
  /** `changes` or `accountChanges` may have something to say. */
  | { kind: 'changed' }
  /** The account can no longer be used. Nothing follows. */
  | { kind: 'ended'; refusal: Refusal }
);

/** Size of the content that APPEND carries at once, like that of the chunks of other answers. */
export const CONTENT_BYTES = 64 * 1024;
/**
 * Maximum number of chunks of one call that the connection has not taken. The next ones are made while these are being sent; a client
 * that reads slowly holds no more of them. Our own limit.
 */
export const MAX_CHUNKS_AHEAD = 4;
/** Number of chunks that the connection takes before it says so. Each message costs both threads about as much as a tenth of a chunk. */
export const CHUNKS_PER_REPORT = 2;

/** Answer to a connection whose session with the account has ended without a reason of its own. */
export const UNAVAILABLE: Refusal = {
  refused: 'BYE',
  code: 'UNAVAILABLE',
  text: 'The mailbox is not available at the moment',
};

/** Chunks that whoever made them does not use again, and that are alone in their memory. */
const released = new WeakSet<Uint8Array>();

/** Says that nobody uses a new chunk again except its reader, so that it moves to another thread without a copy. */
export function release(chunk: Buffer): Buffer {
  const { buffer, byteLength } = chunk;
  if (byteLength > 0 && byteLength === buffer.byteLength) released.add(chunk);
  return chunk;
}

/** Returns bytes that can move to another thread: those of a released chunk, and otherwise a copy. */
export function movable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return released.delete(bytes) ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
