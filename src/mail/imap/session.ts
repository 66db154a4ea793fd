/**
 * The interface between the IMAP server and the product. The server owns the wire: connection states, tags, literals, parsing
 * and the order of responses. A `Session` decides who may log in. After the login, an `Account` keeps the mail, in the thread that it
 * belongs to, and opens one `SelectedMailbox` at a time, which counts the messages that were reported to the client. The server calls one
 * method of a connection at a time, except `close` and `unwatch`. accounts/imap/ implements `Account` (imap-account.ts) and `SelectedMailbox`
 * (selected.ts).
 */

import type { Handover } from '../access/handover.ts';
import type { Client } from '../connection/client.ts';
import type { LoginSession } from '../sasl/mechanisms.ts';
import type { FetchItem } from './fetch-item.ts';
import type { MetadataEntry, MetadataQuery } from './metadata.ts';
import type { NotifyRequest } from './notify.ts';
import type { SearchKey } from './search-key.ts';
import type { PageRange, SequenceSet } from './sequence-set.ts';
import type { SortCriterion } from './sort.ts';
import type { ThreadAlgorithm } from './thread.ts';

/** Client of a connection. */
export type ImapClient = Client & {
  /** Fields that the client has sent with ID (RFC 2971), by their names in lower case. They are not verified. */
  id: Readonly<Record<string, string>>;
};

/**
 * Refuses a command with NO or BAD, or ends the connection with BYE. The code is a response code of RFC 9051 section 7.1 with
 * its arguments, such as `TRYCREATE`. The text is one line.
 */
export type Refusal = { refused: 'NO' | 'BAD' | 'BYE'; code?: string; text: string };

/** Answer of a method that returns nothing when it has succeeded. */
type Outcome = Promise<Refusal | undefined>;

/**
 * Untagged responses, ready for the wire, in chunks of about 64 KiB. The generator is asked for the next chunk only while
 * the client reads. Its return value completes the command: undefined is a plain OK, and a `Notice` is an OK with a code. Work that takes
 * long yields an empty chunk between its slices, so that it ends when nobody reads any more.
 */
export type Chunks = AsyncGenerator<Buffer, Refusal | Notice | undefined, undefined>;

/** Completes a command with OK and a response code, such as `MODIFIED 7,9`. */
type Notice = { noticed: string };

/** A new connection. An error that a method throws is logged and refused, unless it is an AppError (refusal.ts). */
export type Session = LoginSession<ImapClient, Admission | Refusal> & {
  /** The connection has ended, or was handed over. No other call follows. */
  close(): void;
};

/** A login that was accepted. `disabledCapabilities` are those of the account. */
export type Admission = { handover: Handover; disabledCapabilities: readonly string[] };

export type OpenSession = () => Session;

/**
 * Extensions that the client has enabled. `rev2` is IMAP4rev2: SEARCH answers with ESEARCH, and nothing mentions
 * `\Recent`. `utf8` is UTF8=ACCEPT or IMAP4rev2: strings and names in responses are UTF-8 (RFC 6855, RFC 9051 section 5.1).
 * `condstore` is CONDSTORE: responses about flags have modseqs (RFC 7162 section 3.1). `qresync` is QRESYNC: VANISHED takes the place
 * of EXPUNGE (RFC 7162 section 3.2.10). `metadata` is METADATA: the client is told of annotations that others change (RFC 5464 section
 * 4.4).
 */
export type Features = {
  rev2: boolean;
  utf8: boolean;
  condstore: boolean;
  qresync: boolean;
  metadata: boolean;
};

/**
 * Mail of the user who has logged in. Names of mailboxes are decoded text: `INBOX` is in upper case, `/` separates levels,
 * and no separator stands at the end.
 */
export type Account = {
  /** Capabilities that are not advertised to this user, in upper case. */
  disabledCapabilities: readonly string[];
  /** Applies from the next call on. Features are never taken back. */
  enable(features: Features): void;
  /** Returns LIST or LSUB responses, and STATUS responses where they are asked for. */
  list(query: ListQuery): Chunks;
  status(mailbox: string, items: readonly StatusItem[]): Promise<StatusValues | Refusal>;
  /** Returns the storage of all mailboxes, which have one quota (RFC 9208). */
  quota(): Promise<Quota | Refusal>;
  /** Returns METADATA responses. The notice is METADATA LONGENTRIES when a value was left out (RFC 5464 section 4.2.1). */
  getMetadata(query: MetadataQuery): Chunks;
  /** Sets all of these annotations of a mailbox or, with an empty name, of the server; or none of them. */
  setMetadata(mailbox: string, entries: readonly MetadataEntry[]): Outcome;
  /** Creates a mailbox, and the levels above it. The answer is its MAILBOXID (RFC 8474 section 4.1). */
  create(creation: {
    mailbox: string;
    specialUse: string | undefined;
  }): Promise<Refusal | Notice | undefined>;
  delete(mailbox: string): Outcome;
  rename(from: string, to: string): Outcome;
  subscribe(mailbox: string): Outcome;
  unsubscribe(mailbox: string): Outcome;
  /**
   * Adds all messages or none. The client is asked for a message when its content is first read, so a refusal before that
   * spares the transfer. Reading throws when the client goes away or sends something else; nothing is added then, and the
   * error is passed on. `replaced` is a message of the selected mailbox, which is removed in the same change (RFC 8508); its size does
   * not count against the quota.
   */
  append(
    mailbox: string,
    messages: AsyncIterable<AppendMessage>,
    replaced?: Messages,
  ): Promise<AppendResult | Refusal>;
  /**
   * Replaces what the client wants to be told of (RFC 5465). Returns STATUS responses where these are asked for. Until the first call, the
   * client is told of the selected mailbox alone.
   */
  notify(request: NotifyRequest): Chunks;
  /** Returns untagged responses about changes beyond the messages of the selected mailbox, of which the client was not told yet. */
  accountChanges(): Chunks;
  /**
   * Calls `onChange` when `accountChanges`, or `changes` of the selected mailbox, may have something to say, until the returned function
   * is called.
   */
  watch(onChange: () => void): () => void;
  /** Closes the mailbox that was selected before, also when this one is refused. */
  select(mailbox: string, options: SelectOptions): Promise<Selection | Refusal>;
  /** Frees what the session holds. The connection has ended, and no other call follows. */
  close(): void;
};

export type ListQuery = {
  response: 'LIST' | 'LSUB';
  /** Complete patterns: reference and pattern are joined. `*` and `%` are wildcards (RFC 9051 section 6.3.9). */
  patterns: readonly string[];
  /** Value of APPENDLIMIT in the STATUS responses (RFC 7889 section 3.2). */
  appendLimit: number;
  select: {
    subscribed: boolean;
    /** Includes parents of mailboxes that match, with CHILDINFO (RFC 5258 section 3.5). */
    recursiveMatch: boolean;
    specialUse: boolean;
  };
  return: {
    subscribed: boolean;
    children: boolean;
    specialUse: boolean;
    /** Adds a STATUS response to each mailbox that can be selected (RFC 5819). Empty for none. */
    status: readonly StatusItem[];
  };
};

/** Size of all messages, and the maximum; null for none. */
type Quota = { usedBytes: number; maxBytes: number | null };

export type StatusItem =
  | 'MESSAGES'
  | 'RECENT'
  | 'UIDNEXT'
  | 'UIDVALIDITY'
  | 'UNSEEN'
  | 'DELETED'
  | 'DELETED-STORAGE'
  | 'SIZE'
  | 'HIGHESTMODSEQ'
  | 'MAILBOXID'
  | 'APPENDLIMIT';

/** Values of the items that were asked for. The server adds APPENDLIMIT, which it knows itself, to those of `status`. */
export type StatusValues = Partial<Record<Exclude<StatusItem, 'MAILBOXID'>, number>> & { MAILBOXID?: string };

/** A message of APPEND: a literal, or one that is put together from parts (RFC 4469). */
export type AppendMessage = AppendLiteral | AppendCatenation;

export type AppendLiteral = AppendHead & {
  isCatenated?: undefined;
  /** The bytes as the client sent them. They may be read once, before the next message. */
  content: AsyncIterable<Buffer>;
};

export type AppendCatenation = AppendHead & {
  isCatenated: true;
  /** The parts in order. The octets of a text follow its announcement, and the client is asked for them after it. */
  content: AsyncIterable<Buffer | MessagePart>;
};

/** A text, or the octets that a URL names (message-url.ts). */
export type MessagePart =
  | { kind: 'text'; sizeBytes: number; isBinary: boolean }
  | { kind: 'url'; url: string };

type AppendHead = {
  flags: readonly string[];
  /** The time of arrival when it is undefined. */
  internalDate: InternalDate | undefined;
  /** Size of the content; the maximum one when the message is put together. */
  sizeBytes: number;
  /** True when the header fields are UTF-8 (`UTF8 (~{n}`, RFC 6855 section 4). */
  utf8: boolean;
  /** The content may have NUL (RFC 3516 section 4.4). */
  isBinary: boolean;
  /** The client sends the content only when it is asked for it. Otherwise it comes anyway. */
  isSynchronizing: boolean;
};

/** A time in Unix milliseconds, and the zone in which it is shown. */
export type InternalDate = { atMs: number; zoneMinutes: number };

/** `uids` is a set such as `4:6`, in the order of the messages (APPENDUID, RFC 4315 section 3). */
type AppendResult = {
  uidValidity: number;
  uids: string;
  /** Number of the change, when a message was replaced. */
  modseq?: number;
};

type SelectOptions = { readOnly: boolean; condstore: boolean };

export type Selection = {
  selected: SelectedMailbox;
  /** Name of the mailbox as it is stored. */
  mailbox: string;
  /** Id that the mailbox keeps when it is renamed (RFC 8474 section 4). */
  mailboxId: string;
  readOnly: boolean;
  exists: number;
  /** Number of messages that are `\Recent` in this session. */
  recent: number;
  /** Sequence number of the first message without `\Seen`. */
  firstUnseen: number | undefined;
  uidValidity: number;
  uidNext: number;
  highestModseq: number;
  flags: readonly string[];
  /** Flags that the client can change permanently; `\*` stands for new keywords. */
  permanentFlags: readonly string[];
};

/**
 * `withoutExpunge` holds back what changes sequence numbers, for FETCH, STORE and SEARCH, whose clients may have sent more
 * commands with the old numbers (RFC 9051 section 7.5.1). `idle` is for the beginning of IDLE: when the client was told of new messages
 * or of flags at the end of a FETCH, where Thunderbird does not listen, it is told again.
 */
export type ChangeKind = 'all' | 'withoutExpunge' | 'idle';

export type SelectedMailbox = {
  /**
   * Returns FETCH responses. FETCH, STORE, COPY and MOVE refuse sequence numbers that do not exist with BAD, and skip UIDs that do
   * not exist. Messages that another session has removed can be used until the client was told.
   */
  fetch: (query: FetchQuery) => Chunks;
  store(query: StoreQuery): Chunks;
  /** Answers SEARCH, SORT and THREAD. */
  search(query: SearchQuery): Chunks;
  /** Ends the updates of the searches with these tags. Other tags are no error. */
  cancelUpdates(tags: readonly string[]): Outcome;
  /** Copies all messages or none. The answer is undefined when none was found. */
  copy(query: CopyQuery): Promise<CopyResult | Refusal | undefined>;
  /** Moves as `copy` copies. The EXPUNGE responses come with the next `changes('all')`. */
  move(query: CopyQuery): Promise<CopyResult | Refusal | undefined>;
  /**
   * Removes the messages with `\Deleted`, only those with these UIDs. EXPUNGE responses come with `changes('all')`. With QRESYNC the
   * answer is HIGHESTMODSEQ when a message was removed.
   */
  expunge(uids: SequenceSet | undefined): Promise<Refusal | Notice | undefined>;
  /** Returns untagged responses about everything that the client wants to know and was not told yet. */
  changes(kind: ChangeKind): Chunks;
  /** Ends the selection, and first removes the messages with `\Deleted` unless the mailbox is read-only (CLOSE). */
  close(options: { expunge: boolean }): Outcome;
};

/** The numbers of `set` are UIDs when `uid` is true. */
export type Messages = { set: SequenceSet; uid: boolean };

export type FetchQuery = Messages & {
  /** Items in the order of the response; each stands once. UID comes first. */
  items: readonly FetchItem[];
  /** Only messages that were changed after this modseq (RFC 7162 section 3.1.4.1). */
  changedSince: number | undefined;
  /** First tells which UIDs of the set were removed since then, with VANISHED (EARLIER) (RFC 7162 section 3.2.6). */
  vanished: boolean;
  /** Only this page of the messages, chosen before `changedSince` (RFC 9394 sections 3.3 and 3.4). */
  partial: PageRange | undefined;
};

export type StoreQuery = Messages & {
  action: 'replace' | 'add' | 'remove';
  flags: readonly string[];
  silent: boolean;
  /** Only messages that were not changed after this modseq; the others are named by MODIFIED (RFC 7162 section 3.1.3). */
  unchangedSince: number | undefined;
};

export type SearchQuery = {
  /** All of them must match. */
  keys: readonly SearchKey[];
  /** Results are UIDs. */
  uid: boolean;
  /** Tag of the command, for the response of ESEARCH. */
  tag: string;
  /** Results for an ESEARCH response; undefined for a plain response. */
  esearch: SearchReturn | undefined;
  arrangement: Arrangement;
};

/** How messages that match are arranged: in the order of the mailbox (SEARCH), sorted, or in threads (RFC 5256). */
export type Arrangement =
  | { kind: 'search' }
  | { kind: 'sort'; criteria: readonly SortCriterion[] }
  | { kind: 'thread'; algorithm: ThreadAlgorithm };

/** Results that the client asks for (RFC 9051 section 6.4.4). `save` keeps the result as `$` (encode/search.ts). */
export type SearchReturn = {
  min: boolean;
  max: boolean;
  all: boolean;
  count: boolean;
  save: boolean;
  /** A part of what `all` returns (RFC 9394 section 3.1). */
  partial?: PageRange;
  /**
   * The client is told how the result changes, until `cancelUpdates` or the end of the selection (RFC 5267 section 4.3). These items are
   * returned of new messages that are added to the result (RFC 5465 section 7).
   */
  update?: readonly FetchItem[];
};

export type CopyQuery = Messages & { to: string };

/** Sets of UIDs, in the same order (COPYUID, RFC 4315 section 3). */
export type CopyResult = {
  uidValidity: number;
  from: string;
  to: string;
  /** Number of the last change, when messages were moved (RFC 6851 section 4.4). */
  modseq?: number;
  /** The refusal that completes a move of which only these messages could be moved. */
  rest?: Refusal;
};

/** Returns true for an answer that refuses. */
export function isRefusal(answer: object | undefined): answer is Refusal {
  return answer !== undefined && 'refused' in answer;
}
