/**
 * INBOX as a session of POP3 sees it: the messages that were there at login, for one session at a time. Messages that others remove
 * meanwhile can be read until the session ends.
 */
import { crc32 } from 'node:zlib';
import { DamagedBlobError } from '../blobs/damaged.ts';
import type { Chunks, Maildrop, Refusal } from '../mail/pop3/session.ts';
import { nextSlice } from '../system/slices.ts';
import type { OpenAccount } from './account.ts';
import { contentChunks } from './content.ts';
import { expungeAny } from './expunge-messages.ts';
import { findFolderByName } from './folder-store.ts';
import { INBOX } from './folders.ts';
import { listSummaries } from './message-store.ts';
import { findStored, listStored, type Stored } from './stored-message-store.ts';
import type { MessageRow } from './tables.ts';

/** Number of messages that are listed, read or removed before other accounts of the thread go on: about 5 ms. */
const MESSAGES_PER_SLICE = 500;
/** Number of octets of messages that are read at once. A message that is larger is read alone. */
const OCTETS_PER_BATCH = 256 * 1024;

const COLUMNS = ['prefix', 'crc32', 'octets'] as const;
type StoredOctets = Stored<(typeof COLUMNS)[number]>;

const IN_USE: Refusal = { refused: true, code: 'IN-USE', text: 'Another session has the maildrop' };
const UNREADABLE: Refusal = { refused: true, code: 'SYS/PERM', text: 'The message could not be read' };

/** Accounts whose maildrop a session has. */
const taken = new WeakSet<OpenAccount>();

/** Opens the maildrop of a new session. The refusal says that another session has it. */
export async function openMaildrop(account: OpenAccount): Promise<Maildrop | Refusal> {
  if (taken.has(account)) return IN_USE;
  taken.add(account);
  const maildrop = new AccountMaildrop(account);
  try {
    await maildrop.open();
    return maildrop;
  } catch (error) {
    maildrop.close();
    throw error;
  }
}

class AccountMaildrop implements Maildrop {
  readonly #account: OpenAccount;
  readonly #removed = new Map<number, MessageRow>();
  uidValidity = 0;
  uids = new Uint32Array();
  sizes = new Uint32Array();
  #folderId = 0;
  #unsubscribe = () => {};
  /** Messages that were read ahead, by UID, and the index behind the last one that was retrieved. */
  #ahead = new Map<number, StoredOctets>();
  #next = 0;
  /** Number of messages that the next batch may have. Clients that take one message after the other get more at once. */
  #batch = 1;

  constructor(account: OpenAccount) {
    this.#account = account;
  }

  async open(): Promise<void> {
    const folder = await findFolderByName(this.#account.db.read, INBOX);
    if (!folder) throw new Error('the account has no INBOX');
    this.#folderId = folder.id;
    this.uidValidity = folder.uidValidity;
    this.#watchRemovals();
    await this.#list(folder.messageCount);
  }

  retrieve(index: number): Buffer | Chunks {
    const message = this.#takeAhead(index);
    if (!message?.octets || crc32(message.octets) !== message.crc32) return this.#readPieces(index);
    this.#next = index + 1;
    return message.prefix === null ? message.octets : Buffer.concat([message.prefix, message.octets]);
  }

  /** Returns a message that was read ahead, once, because its reader may change it. */
  #takeAhead(index: number): StoredOctets | undefined {
    const uid = this.uids[index] as number;
    const message = this.#ahead.get(uid);
    this.#ahead.delete(uid);
    return message;
  }

  async *#readPieces(index: number): Chunks {
    try {
      const message = await this.#readAhead(index);
      this.#next = index + 1;
      yield* this.#octetsOf(message);
      return undefined;
    } catch (error) {
      this.#account.app.log.error({ err: error, mailbox: this.#account.id }, 'a message could not be read');
      return UNREADABLE;
    }
  }

  async quit(indexes: readonly number[]): Promise<undefined> {
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
    taken.delete(this.#account);
    this.#unsubscribe();
    for (const { contentId } of this.#removed.values()) this.#account.heldContents.delete(contentId);
    this.#removed.clear();
    this.#ahead = new Map();
  }

  /** Keeps the messages that others remove, and their contents, until the session ends. */
  #watchRemovals(): void {
    this.#unsubscribe = this.#account.changes.subscribe(this.#folderId, (change) => {
      if (change.kind !== 'expunged') return;
      for (const message of change.messages) {
        this.#account.heldContents.add(message.contentId);
        this.#removed.set(message.uid, message);
      }
    });
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
      await nextSlice();
    }
    this.uids = Uint32Array.from(uids);
    this.sizes = Uint32Array.from(sizes);
  }

  /** Reads a message, together with those that a client which takes one after the other wants next. */
  async #readAhead(index: number): Promise<StoredOctets | undefined> {
    this.#batch = index === this.#next ? Math.min(2 * this.#batch, MESSAGES_PER_SLICE) : 1;
    this.#ahead = await this.#read(index, this.#batchEnd(index, this.#batch));
    return this.#takeAhead(index);
  }

  /** Returns the index behind the messages that are read together. */
  #batchEnd(start: number, count: number): number {
    const end = Math.min(start + count, this.uids.length);
    let octets = this.sizes[start] as number;
    let next = start + 1;
    while (next < end) {
      octets += this.sizes[next] as number;
      if (octets > OCTETS_PER_BATCH) break;
      next++;
    }
    return next;
  }

  /** Returns messages by UID. */
  async #read(start: number, end: number): Promise<Map<number, StoredOctets>> {
    const { read } = this.#account.db;
    const range = {
      folderId: this.#folderId,
      uidFrom: this.uids[start] as number,
      uidTo: this.uids[end - 1] as number,
    };
    const found = new Map<number, StoredOctets>();
    for (const message of await listStored(read, range, COLUMNS)) found.set(message.uid, message);
    for (const uid of this.uids.subarray(start, end)) {
      const removed = found.has(uid) ? undefined : this.#removed.get(uid);
      const stored = removed && (await findStored(read, removed, COLUMNS));
      if (stored) found.set(uid, stored);
    }
    return found;
  }

  /** Yields the octets of a message. @throws DamagedBlobError when they are not those that were stored */
  async *#octetsOf(message: StoredOctets | undefined): AsyncGenerator<Buffer> {
    if (!message) throw new DamagedBlobError(this.#account.db.file, 'a message of the maildrop is missing');
    const { prefix, octets, contentId } = message;
    if (prefix !== null && prefix.length > 0) yield Buffer.from(prefix);
    if (octets === null) yield* contentChunks(this.#account, contentId);
    else if (crc32(octets) === message.crc32) yield octets;
    else
      throw new DamagedBlobError(
        this.#account.db.file,
        `content ${contentId} has other bytes than were stored`,
      );
  }

  /** Returns ranges of UIDs that have no other messages in them. */
  #rangesOf(indexes: readonly number[]): { uidFrom: number; uidTo: number }[] {
    const ranges: { uidFrom: number; uidTo: number }[] = [];
    let next = -1;
    let inLast = 0;
    for (const index of indexes) {
      const uid = this.uids[index] as number;
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
