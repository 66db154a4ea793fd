/**
 * Keeps what has happened in an account, beyond the messages of the selected folder, until it is reported to the client of one session
 * (RFC 5465, RFC 5464 section 4.4.2). Many changes of the same thing are reported once, so what waits for a slow client is bounded.
 */

import {
  ALL_OF_SELECTED,
  compileGroups,
  NO_EVENTS,
  type NotifyEvent,
  type NotifyRequest,
  type SelectedEvents,
} from '../../mail/imap/notify.ts';
import type { OpenAccount } from '../account.ts';
import type { FolderChange, MetadataChange, SubscriptionChange } from '../changes.ts';
import { INBOX } from '../folders.ts';
import { SERVER } from '../metadata-store.ts';
import { SessionMemory } from './session-memory.ts';

/**
 * Maximum number of names of folders and annotations that wait. Beyond it, a client with NOTIFY gets NOTIFICATIONOVERFLOW and no further
 * changes (RFC 5465 section 5.8), and a client with ENABLE METADATA loses the oldest ones. A name has up to 1,000 characters.
 */
const MAX_NAMES = 1_000;
/** Memory of a name, and of the changes of a folder, in bytes. Estimates. */
const BYTES_PER_NAME = 2_048;
const BYTES_PER_STATUS = 128;

/**
 * Changes of a folder that a STATUS response reports. `identity` is true when the name stands for another folder, with another
 * UIDVALIDITY.
 */
export type StatusNotification = { messages: boolean; flags: boolean; identity: boolean };

/** A name of a folder that was created, deleted or renamed. */
export type NameNotification = {
  name: string;
  /** Name that the folder had before it was renamed. */
  oldName?: string;
  /** Tells whether there was a folder with this name afterwards; undefined for the level above one that was created or deleted. */
  exists?: boolean;
};

/** Notifications in the order in which it happened. */
export type Notifications = {
  isOverflow: boolean;
  names: readonly NameNotification[];
  /** Names that were subscribed, or are no longer. */
  subscriptions: ReadonlySet<string>;
  statuses: ReadonlyMap<number, StatusNotification>;
  metadata: readonly { folderId: number; entry: string }[];
};

const NO_GROUPS = compileGroups([]);
const NO_NAMES: ReadonlySet<NotifyEvent> = new Set();
const NO_STATUS = { messages: false, flags: false, identity: false };

/** Notifications that were not reported to a client. */
class Waiting {
  readonly names: NameNotification[] = [];
  readonly subscriptions = new Set<string>();
  readonly statuses = new Map<number, StatusNotification>();
  readonly metadata = new Map<string, { folderId: number; entry: string }>();

  get nameCount(): number {
    return this.names.length + this.subscriptions.size + this.metadata.size;
  }

  get isEmpty(): boolean {
    return this.nameCount + this.statuses.size === 0;
  }
}

export class AccountNotifications {
  /** Returns the events that the client wants of a folder. */
  eventsOf = NO_GROUPS;
  /** The session, as its changes name it. */
  readonly #origin: object;
  readonly #account: OpenAccount;
  readonly #memory: SessionMemory;
  #listeners: readonly (() => void)[] = [];
  #request: NotifyRequest | undefined;
  #wanted = NO_NAMES;
  #asksMetadata = false;
  #unsubscribe: (() => void)[] = [];
  #isOverflow = false;
  #waiting: Waiting | undefined;

  constructor(account: OpenAccount, origin: object) {
    this.#account = account;
    this.#memory = new SessionMemory(account);
    this.#origin = origin;
  }

  /** Events of the selected folder of which the client wants to know. */
  get selected(): SelectedEvents {
    return this.#request?.selected ?? ALL_OF_SELECTED;
  }

  /** Keeps changes of annotations from now on (ENABLE METADATA). */
  askMetadata(): void {
    this.#asksMetadata = true;
    this.#begin();
  }

  /** Replaces what the client wants to know. */
  set(request: NotifyRequest): void {
    this.#request = request;
    this.eventsOf = compileGroups(request.groups);
    this.#wanted = new Set(request.groups.flatMap(({ events }) => events));
    this.#clear();
    this.#isOverflow = false;
    this.#begin();
  }

  /** Ends the subscriptions to changes. Nothing more is kept. */
  end(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#unsubscribe = [];
    this.#clear();
  }

  /** Returns true when the client wants to know of annotations of a folder or, without one, of the server. */
  wantsMetadata(folder: { name: string; isSubscribed: boolean } | undefined): boolean {
    if (!this.#request) return this.#asksMetadata;
    return folder
      ? this.eventsOf(folder).has('MailboxMetadataChange')
      : this.#wanted.has('ServerMetadataChange');
  }

  /** Calls the listener when something has happened, until the returned function is called. */
  watch(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((one) => one !== listener);
    };
  }

  /** Calls all listeners. */
  notify(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Returns what has happened since the last call; undefined when nothing has. */
  take(): Notifications | undefined {
    if (!this.#hasChanges) return undefined;
    const { names, subscriptions, statuses, metadata } = this.#pending;
    const pending = { names, subscriptions, statuses, metadata: [...metadata.values()] };
    const isOverflow = this.#isOverflow;
    this.#isOverflow = false;
    this.#clear();
    return { isOverflow, ...pending };
  }

  /** Notifications that waits, of which most sessions never have any. */
  get #pending(): Waiting {
    this.#waiting ??= new Waiting();
    return this.#waiting;
  }

  get #hasChanges(): boolean {
    return this.#isOverflow || (this.#waiting !== undefined && !this.#waiting.isEmpty);
  }

  #begin(): void {
    if (this.#unsubscribe.length > 0) return;
    const { changes } = this.#account;
    const note =
      <Change extends { origin?: object }>(add: (change: Change) => void) =>
      (change: Change): void => {
        if (change.origin === this.#origin) return;
        add(change);
        this.#bound();
        if (this.#hasChanges) this.notify();
      };
    this.#unsubscribe = [
      changes.subscribe(
        'all',
        note((change) => this.#noteFolder(change)),
      ),
      changes.subscriptions.subscribe(note((change) => this.#noteSubscription(change))),
      changes.metadata.subscribe(note((change) => this.#noteMetadata(change))),
    ];
  }

  #noteFolder(change: FolderChange): void {
    const { folderId } = change;
    switch (change.kind) {
      case 'added':
      case 'expunged':
        this.#noteStatus(folderId, { messages: true });
        break;
      case 'flags':
        this.#noteStatus(folderId, { flags: true });
        break;
      case 'created':
        this.#noteStatus(folderId, { identity: true });
        this.#noteName(change);
        break;
      case 'deleted':
        this.#pending.statuses.delete(folderId);
        this.#noteName(change);
        break;
      case 'renamed':
        this.#noteStatus(folderId, { identity: true, messages: change.from === INBOX });
        if (!change.isBelow && this.#wanted.has('MailboxName'))
          this.#pending.names.push({ name: change.to, oldName: change.from, exists: true });
    }
  }

  #noteStatus(folderId: number, status: Partial<StatusNotification>): void {
    const isWanted =
      (status.messages && this.#wanted.has('MessageNew')) ||
      ((status.flags || status.identity) && this.#wanted.has('FlagChange'));
    if (!isWanted) return;
    const { messages, flags, identity } = this.#pending.statuses.get(folderId) ?? NO_STATUS;
    this.#pending.statuses.set(folderId, {
      messages: messages || status.messages === true,
      flags: flags || status.flags === true,
      identity: identity || status.identity === true,
    });
  }

  /** The level above may have other attributes now (RFC 5465 section 5.4). */
  #noteName({ kind, name }: { kind: 'created' | 'deleted'; name: string }): void {
    if (!this.#wanted.has('MailboxName')) return;
    const parent = name.slice(0, Math.max(0, name.lastIndexOf('/')));
    if (parent !== '') this.#pending.names.push({ name: parent });
    this.#pending.names.push({ name, exists: kind === 'created' });
  }

  #noteSubscription({ name }: SubscriptionChange): void {
    if (this.#wanted.has('SubscriptionChange')) this.#pending.subscriptions.add(name);
  }

  #noteMetadata({ folderId = SERVER, entries }: MetadataChange): void {
    const event = folderId === SERVER ? 'ServerMetadataChange' : 'MailboxMetadataChange';
    if (this.#request ? !this.#wanted.has(event) : !this.#asksMetadata) return;
    for (const entry of entries) {
      const key = `${folderId} ${entry.toLowerCase()}`;
      this.#pending.metadata.delete(key);
      this.#pending.metadata.set(key, { folderId, entry });
    }
  }

  #bound(): void {
    if (this.#hasCapacity()) return;
    if (this.#request) {
      this.set(NO_EVENTS);
      this.#isOverflow = true;
    }
    for (const key of this.#pending.metadata.keys()) {
      if (this.#hasCapacity()) break;
      this.#pending.metadata.delete(key);
    }
  }

  #hasCapacity(): boolean {
    const { nameCount, statuses } = this.#pending;
    const bytes = nameCount * BYTES_PER_NAME + statuses.size * BYTES_PER_STATUS;
    return nameCount <= MAX_NAMES && this.#memory.resize(bytes);
  }

  #clear(): void {
    this.#waiting = undefined;
    this.#memory.resize(0);
  }
}
