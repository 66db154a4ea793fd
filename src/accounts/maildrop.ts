/**
 * INBOX as a session of POP3 sees it: the messages that were there at login, for one session at a time. Messages that others remove
 * meanwhile can be read until the session ends.
 */
import { crc32 } from 'node:zlib';
import { DamagedBlobError } from '../blobs/damaged.ts';
import type { Chunks, Refusal } from '../mail/pop3/session.ts';
import { createPause, nextTurn } from '../system/next-turn.ts';
import type { OpenAccount } from './account.ts';
import type { AccountMaildrop, MaildropListing } from './account-maildrop.ts';
import { contentChunks } from './content.ts';
import { expungeAny } from './expunge-messages.ts';
import { findFolderByName } from './folder-store.ts';
import { INBOX } from './folders.ts';
import { listSummaries } from './message-store.ts';
import { release } from './remote-messages.ts';
import { findStored, listStored, type Stored } from './stored-message-store.ts';
import type { MessageRow } from './tables.ts';

/** Number of messages that are listed, read or removed before other accounts of the thread go on: about 5 ms. */
const MESSAGES_PER_SLICE = 500;
/** Number of octets of messages that are read at once. A message that is larger is read alone. */
const OCTETS_PER_BATCH = 256 * 1024;

/** Size of a chunk for the connection. Many small ones would make two threads wait for each other. Our own choice. */
const CHUNK_OCTETS = 128 * 1024;

const COLUMNS = ['prefix', 'crc32', 'octets'] as const;
type StoredOctets = Stored<(typeof COLUMNS)[number]>;

const IN_USE: Refusal = { refused: true, code: 'IN-USE', text: 'Another session has the maildrop' };
const UNREADABLE: Refusal = { refused: true, code: 'SYS/PERM', text: 'The message could not be read' };

/** Accounts whose maildrop a session has. */
const taken = new WeakSet<OpenAccount>();

/** Returns the maildrop of a new session, which has not taken it yet. */
export function createMaildrop(account: OpenAccount): AccountMaildrop {
  return new Maildrop(account);
}

class Maildrop implements AccountMaildrop {
  readonly #account: OpenAccount;
  readonly #removed = new Map<number, MessageRow>();
  #folderId = 0;
  #uids = new Uint32Array();
  #sizes = new Uint32Array();
  #release: (() => void) | undefined;

  constructor(account: OpenAccount) {
    this.#account = account;
  }

  async openMaildrop(): Promise<MaildropListing | Refusal> {
    if (taken.has(this.#account)) return IN_USE;
    taken.add(this.#account);
    this.#release = () => taken.delete(this.#account);
    try {
      const folder = await findFolderByName(this.#account.db.read, INBOX);
      if (!folder) throw new Error('the account has no INBOX');
      this.#folderId = folder.id;
      this.#watchRemovals();
      await this.#list(folder.messageCount);
      return { uidValidity: folder.uidValidity, uids: this.#uids, sizes: this.#sizes };
    } catch (error) {
      this.close();
      throw error;
    }
  }

  async *retrieve(from: number, count: number): Chunks {
    const { clock, log } = this.#account.app;
    const pause = createPause(clock);
    const end = Math.min(from + count, this.#uids.length);
    let pieces: Buffer[] = [];
    let octets = 0;
    const take = (): Buffer => {
      const chunk = release(Buffer.concat(pieces));
      pieces = [];
      octets = 0;
      return chunk;
    };
    for (let start = from; start < end; ) {
      const next = this.#batchEnd(start, end);
      const found = await this.#read(start, next);
      for (; start < next; start++) {
        try {
          for await (const piece of this.#octetsOf(found.get(this.#uids[start] as number))) {
            pieces.push(piece);
            octets += piece.length;
            if (octets >= CHUNK_OCTETS) yield take();
          }
        } catch (error) {
          log.error({ err: error, mailbox: this.#account.id }, 'a message could not be read');
          if (octets > 0) yield take();
          return UNREADABLE;
        }
        await pause();
      }
    }
    if (octets > 0) yield take();
    return undefined;
  }

  async quitMaildrop(indexes: readonly number[]): Promise<void> {
    const { db, changes } = this.#account;
    const folderId = this.#folderId;
    try {
      if (indexes.length === 0) return;
      await db.commit(expungeAny, { folderId, ranges: this.#rangesOf(indexes) }, (expunged) => {
        if (expunged) changes.publish({ kind: 'expunged', folderId, ...expunged });
      });
    } finally {
      this.close();
    }
  }

  close(): void {
    this.#release?.();
    this.#release = undefined;
    for (const { contentId } of this.#removed.values()) this.#account.heldContents.delete(contentId);
    this.#removed.clear();
  }

  /** Keeps the messages that others remove, and their contents, until the session ends. */
  #watchRemovals(): void {
    const release = this.#release;
    const unsubscribe = this.#account.changes.subscribe(this.#folderId, (change) => {
      if (change.kind !== 'expunged') return;
      for (const message of change.messages) {
        this.#account.heldContents.add(message.contentId);
        this.#removed.set(message.uid, message);
      }
    });
    this.#release = () => {
      unsubscribe();
      release?.();
    };
  }

  async #list(messageCount: number): Promise<void> {
    const uids: number[] = [];
    const sizes: number[] = [];
    while (uids.length < messageCount) {
      const range = {
        folderId: this.#folderId,
        uidFrom: (uids.at(-1) ?? 0) + 1,
        uidTo: Number.MAX_SAFE_INTEGER,
      };
      const limit = Math.min(MESSAGES_PER_SLICE, messageCount - uids.length);
      const messages = await listSummaries(this.#account.db.read, range, limit);
      for (const { uid, sizeBytes } of messages) {
        uids.push(uid);
        sizes.push(sizeBytes);
      }
      // Some were removed meanwhile.
      if (messages.length < limit) break;
      await nextTurn();
    }
    this.#uids = Uint32Array.from(uids);
    this.#sizes = Uint32Array.from(sizes);
  }

  /** Returns the index behind the messages that are read together. */
  #batchEnd(start: number, end: number): number {
    let octets = this.#sizes[start] as number;
    let next = start + 1;
    while (next < end && next - start < MESSAGES_PER_SLICE) {
      octets += this.#sizes[next] as number;
      if (octets > OCTETS_PER_BATCH) break;
      next++;
    }
    return next;
  }

  /** Returns messages by UID. */
  async #read(start: number, end: number): Promise<ReadonlyMap<number, StoredOctets>> {
    const { read } = this.#account.db;
    const range = {
      folderId: this.#folderId,
      uidFrom: this.#uids[start] as number,
      uidTo: this.#uids[end - 1] as number,
    };
    const found = new Map<number, StoredOctets>();
    for (const message of await listStored(read, range, COLUMNS)) found.set(message.uid, message);
    for (const uid of this.#uids.subarray(start, end)) {
      const removed = found.has(uid) ? undefined : this.#removed.get(uid);
      const stored = removed && (await findStored(read, removed, COLUMNS));
      if (stored) found.set(uid, stored);
    }
    return found;
  }

  /** Yields the octets of a message. @throws DamagedBlobError when they are not those that were stored */
  async *#octetsOf(message: StoredOctets | undefined): AsyncGenerator<Buffer> {
    const { db } = this.#account;
    if (!message) throw new DamagedBlobError(db.file, 'a message of the maildrop is missing');
    const { prefix, octets, contentId } = message;
    if (prefix !== null && prefix.length > 0) yield Buffer.from(prefix);
    if (octets === null) return yield* contentChunks(this.#account, contentId);
    if (crc32(octets) !== message.crc32)
      throw new DamagedBlobError(db.file, `content ${contentId} has other bytes than were stored`);
    yield octets;
  }

  /** Returns ranges of UIDs that have no other messages in them. */
  #rangesOf(indexes: readonly number[]): { uidFrom: number; uidTo: number }[] {
    const ranges: { uidFrom: number; uidTo: number }[] = [];
    let next = -1;
    let inLast = 0;
    for (const index of indexes) {
      const uid = this.#uids[index] as number;
      const last = ranges.at(-1);
      if (last && index === next && inLast < MESSAGES_PER_SLICE) {
        last.uidTo = uid;
        inLast++;
      } else {
        ranges.push({ uidFrom: uid, uidTo: uid });
        inLast = 1;
      }
      next = index + 1;
    }
    return ranges;
  }
}
