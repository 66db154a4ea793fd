/**
 * Sessions of the IMAP server that keep mail in memory, for one user. They follow its interface as the product does, with the
 * encoders that it uses, and are as simple as that allows.
 */

import { withFixedSets } from '../../src/accounts/imap/search-contexts.ts';
import { writeBodyStructure } from '../../src/mail/imap/encode/body-structure.ts';
import { writeEnvelope } from '../../src/mail/imap/encode/envelope.ts';
import { writeInternalDate } from '../../src/mail/imap/encode/internal-date.ts';
import { writeListed, writeStatus } from '../../src/mail/imap/encode/mailboxes.ts';
import { writeMetadata, writeMetadataNames } from '../../src/mail/imap/encode/metadata.ts';
import { numbersToSave, writeSearchResult } from '../../src/mail/imap/encode/search.ts';
import { type WirePieces, writeSection } from '../../src/mail/imap/encode/section.ts';
import { type TextForm, textFormOf, writeOctets } from '../../src/mail/imap/encode/strings.ts';
import { writeThreads } from '../../src/mail/imap/encode/threads.ts';
import { endWithChanges } from '../../src/mail/imap/end-with-changes.ts';
import { type FetchItem, labelOf } from '../../src/mail/imap/fetch-item.ts';
import { badUrl, parseMessageUrl } from '../../src/mail/imap/message-url.ts';
import { chooseEntries, MAX_ENTRIES } from '../../src/mail/imap/metadata.ts';
import { ALL_OF_SELECTED, type SelectedEvents } from '../../src/mail/imap/notify.ts';
import { pageOf } from '../../src/mail/imap/page-range.ts';
import type { SearchKey } from '../../src/mail/imap/search-key.ts';
import {
  formatNumbers,
  resolveRanges,
  type SequenceRange,
  type SequenceSet,
} from '../../src/mail/imap/sequence-set.ts';
import type {
  Account,
  Chunks,
  CopyQuery,
  Features,
  ImapClient,
  ListQuery,
  Messages,
  OpenSession,
  Refusal,
  SearchQuery,
  SelectedMailbox,
  Session,
  StatusItem,
  StatusValues,
} from '../../src/mail/imap/session.ts';
import { sortMessages } from '../../src/mail/imap/sort.ts';
import { threadMessages } from '../../src/mail/imap/thread.ts';
import { readMimeTree } from '../../src/mail/message/mime-tree.ts';
import { chooseFields, findBinary, findSection, partialRange } from '../../src/mail/message/section.ts';
import { readSortKeys, readThreadKeys } from '../../src/mail/message/sort-keys.ts';
import { decodeTransfer } from '../../src/mail/message/transfer-encoding.ts';
import { finishSteps } from '../../src/system/steps.ts';
import { writeFetch, writeFlags } from './imap-responses.ts';
import { createMemoryNotifications } from './memory-notifications.ts';
import { createMemoryContexts } from './memory-search-contexts.ts';
import { createScramSession } from './scram-client.ts';

export type MemoryMessage = {
  uid: number;
  flags: Set<string>;
  modseq: number;
  internalDate: { atMs: number; zoneMinutes: number };
  bytes: Buffer;
};

export type MemoryMailbox = {
  uidValidity: number;
  uidNext: number;
  /** Messages from this UID on are recent for the next session that selects the mailbox. */
  recentFrom: number;
  messages: MemoryMessage[];
  specialUse?: string;
  annotations: Annotations;
};

/** Entries by their names in lower case. */
type Annotations = Map<string, { entry: string; value: Uint8Array }>;

/** Methods that a test replaces. */
type Hooks = {
  login?: Session['login'];
  account?: Partial<Account>;
  selected?: Partial<SelectedMailbox>;
};

export type MemoryMail = {
  openSession: OpenSession;
  mailboxes: Map<string, MemoryMailbox>;
  subscribed: Set<string>;
  /** Annotations of the server. */
  annotations: Annotations;
  /** Features that the last client has enabled. */
  features: Features;
  /** Client of the last login. */
  client: ImapClient | undefined;
  openSessions: number;
  /** Connections that wait for changes. */
  watchers: Set<() => void>;
  addMailbox(name: string, specialUse?: string): MemoryMailbox;
  deliver(name: string, text: string, flags?: readonly string[]): void;
  /** Another session removes a message. */
  remove(name: string, uid: number): void;
};

export const USER = { username: 'user@test.example', password: 'secret word' };

const NO_FEATURES: Features = { rev2: false, utf8: false, condstore: false, qresync: false, metadata: false };
const no = (code: string, text: string): Refusal => ({ refused: 'NO', code, text });
const missing = () => no('NONEXISTENT', 'The mailbox does not exist');

/** Returns mail with an empty INBOX. */
export function createMemoryMail(hooks: Hooks = {}): MemoryMail {
  let lastUidValidity = 1_000;
  let modseq = 1;
  const mail: MemoryMail = {
    mailboxes: new Map(),
    subscribed: new Set(['INBOX']),
    annotations: new Map(),
    features: NO_FEATURES,
    client: undefined,
    openSessions: 0,
    watchers: new Set(),
    addMailbox(name, specialUse) {
      const mailbox: MemoryMailbox = {
        uidValidity: ++lastUidValidity,
        uidNext: 1,
        recentFrom: 1,
        messages: [],
        annotations: new Map(),
        ...(specialUse !== undefined && { specialUse }),
      };
      mail.mailboxes.set(name, mailbox);
      return mailbox;
    },
    deliver(name, text, flags = []) {
      const mailbox = mail.mailboxes.get(name);
      if (mailbox) add(mailbox, { bytes: Buffer.from(text), flags });
    },
    remove(name, uid) {
      const mailbox = mail.mailboxes.get(name);
      if (!mailbox) return;
      mailbox.messages = mailbox.messages.filter((message) => message.uid !== uid);
      notify();
    },
    openSession() {
      mail.openSessions++;
      const login: Session['login'] =
        hooks.login ??
        (async ({ username, password, client }) => {
          mail.client = client;
          return username === USER.username && password === USER.password
            ? { ...createAccount(), ...hooks.account }
            : no('AUTHENTICATIONFAILED', 'The user name or the password is wrong');
        });
      return {
        login,
        ...createScramSession(USER, login),
        close: () => void mail.openSessions--,
      };
    },
  };
  /** Sessions that are told of annotations, with what they were not told yet. */
  const told = new Set<{ news: Map<string, Set<string>> }>();
  mail.addMailbox('INBOX');
  return mail;

  function add(
    mailbox: MemoryMailbox,
    {
      bytes,
      flags,
      atMs = 0,
      zoneMinutes = 0,
    }: { bytes: Buffer; flags: Iterable<string>; atMs?: number; zoneMinutes?: number },
  ): number {
    const uid = mailbox.uidNext++;
    mailbox.messages.push({
      uid,
      flags: new Set(flags),
      modseq: ++modseq,
      internalDate: { atMs, zoneMinutes },
      bytes,
    });
    notify();
    return uid;
  }

  function notify(): void {
    for (const watch of mail.watchers) watch();
  }

  function createAccount(): Account {
    let features = NO_FEATURES;
    let replaceable: Replaceable | undefined;
    const { mailboxes, subscribed } = mail;
    const own = { news: new Map<string, Set<string>>() };
    let selected: MemoryMailbox | undefined;
    /** UIDs of messages of the selected mailbox that the client has added itself. */
    const ownAdded = new Set<number>();
    const notifications = createMemoryNotifications(mail, {
      features: () => features,
      selected: () => selected,
      statusOf,
    });
    const form = () => textFormOf(features);
    const annotationsOf = (name: string) =>
      name === '' ? mail.annotations : mailboxes.get(name)?.annotations;
    const account: Account = {
      disabledCapabilities: [],
      enable(enabled) {
        features = enabled;
        mail.features = enabled;
        if (enabled.metadata) told.add(own);
      },
      async *getMetadata(query) {
        const annotations = annotationsOf(query.mailbox);
        if (!annotations) return missing();
        const known = [...annotations.values()]
          .map(({ entry, value }) => ({ entry, value, sizeBytes: value.length }))
          .sort((one, other) => (one.entry < other.entry ? -1 : 1));
        const { chosen, longest } = chooseEntries(known, query);
        const entries = chosen.map((one) =>
          typeof one === 'string' ? { entry: one, value: undefined } : one,
        );
        if (entries.length > 0) yield Buffer.concat(writeMetadata(query.mailbox, entries, form()));
        return longest === undefined ? undefined : { noticed: `METADATA LONGENTRIES ${longest}` };
      },
      async setMetadata(name, entries) {
        const annotations = annotationsOf(name);
        if (!annotations) return missing();
        const after: Annotations = new Map(annotations);
        const changed = entries.filter(({ entry, value }) => {
          const key = entry.toLowerCase();
          if (!value) return after.delete(key);
          return after.set(key, { entry: after.get(key)?.entry ?? entry, value });
        });
        if (after.size > Math.max(MAX_ENTRIES, annotations.size))
          return no('METADATA TOOMANY', 'There are too many');
        annotations.clear();
        for (const [key, annotation] of after) annotations.set(key, annotation);
        for (const other of told) {
          if (other === own || changed.length === 0) continue;
          const names = other.news.get(name) ?? new Set();
          other.news.set(name, names);
          for (const { entry } of changed) names.add(entry);
        }
        return undefined;
      },
      async *notify(request) {
        notifications.set(request);
        if (request.status) yield* notifications.statuses();
        return undefined;
      },
      async *accountChanges() {
        if (notifications.request) {
          yield* notifications.report();
          return undefined;
        }
        for (const [name, entries] of own.news)
          yield Buffer.from(writeMetadataNames(name, [...entries], form()));
        own.news.clear();
        return undefined;
      },
      watch(onChange) {
        mail.watchers.add(onChange);
        return () => void mail.watchers.delete(onChange);
      },
      list: (query) => list(mail, query, features),
      async status(name, items) {
        const mailbox = mailboxes.get(name);
        return mailbox ? statusOf(mailbox, items) : missing();
      },
      async quota() {
        const all = [...mailboxes.values()].flatMap(({ messages }) => messages);
        return { usedBytes: all.reduce((sum, { bytes }) => sum + bytes.length, 0), maxBytes: null };
      },
      async create({ mailbox: name, specialUse }) {
        if (mailboxes.has(name)) return no('ALREADYEXISTS', 'The mailbox exists');
        for (let end = name.indexOf('/'); end >= 0; end = name.indexOf('/', end + 1))
          if (!mailboxes.has(name.slice(0, end))) mail.addMailbox(name.slice(0, end));
        const { uidValidity } = mail.addMailbox(name, specialUse);
        return { noticed: `MAILBOXID (F${uidValidity})` };
      },
      async delete(name) {
        if (name === 'INBOX') return no('CANNOT', 'INBOX cannot be deleted');
        return mailboxes.delete(name) ? undefined : missing();
      },
      async rename(from, to) {
        if (mailboxes.has(to)) return no('ALREADYEXISTS', 'The mailbox exists');
        if (!mailboxes.has(from)) return missing();
        for (const [name, mailbox] of [...mailboxes]) {
          if (name !== from && !name.startsWith(`${from}/`)) continue;
          mailboxes.delete(name);
          mailboxes.set(to + name.slice(from.length), mailbox);
        }
        if (from !== 'INBOX') return undefined;
        const { annotations } = mail.addMailbox('INBOX');
        for (const [key, annotation] of mailboxes.get(to)?.annotations ?? [])
          annotations.set(key, annotation);
        return undefined;
      },
      async subscribe(name) {
        subscribed.add(name);
        return undefined;
      },
      async unsubscribe(name) {
        subscribed.delete(name);
        return undefined;
      },
      async append(name, messages, replaced) {
        const mailbox = mailboxes.get(name);
        if (!mailbox) return no('TRYCREATE', 'The mailbox does not exist');
        const originals = replaced && replaceable?.find(replaced);
        if (replaced && !originals) return outOfRange();
        if (originals?.length === 0) return no('NONEXISTENT', 'The message does not exist');
        if (originals?.some((uid) => !replaceable?.has(uid)))
          return no('EXPUNGEISSUED', 'The message is gone');
        const read: { bytes: Buffer; flags: readonly string[]; atMs?: number; zoneMinutes?: number }[] = [];
        for await (const { flags, internalDate, content } of messages) {
          const pieces: Buffer[] = [];
          for await (const piece of content) {
            if (!Buffer.isBuffer(piece) && piece.kind === 'text') continue;
            const octets = Buffer.isBuffer(piece) ? piece : octetsOf(piece.url, replaceable?.name());
            if (!octets) return badUrl(Buffer.isBuffer(piece) ? '' : piece.url);
            pieces.push(octets);
          }
          const bytes = Buffer.concat(pieces);
          if (bytes.length === 0) return no('CANNOT', 'The message is empty');
          read.push({ bytes, flags, ...internalDate });
        }
        const uids = read.map((message) => add(mailbox, message));
        if (originals) replaceable?.remove(originals);
        return {
          uidValidity: mailbox.uidValidity,
          uids: formatNumbers(uids),
          ...(originals && { modseq: ++modseq }),
        };
      },
      async select(name, { readOnly }) {
        const mailbox = mailboxes.get(name);
        selected = mailbox;
        if (!mailbox) return missing();
        const recentFrom = mailbox.recentFrom;
        if (!readOnly) mailbox.recentFrom = mailbox.uidNext;
        const { replaceable: selection, ...methods } = createSelected({
          mailbox,
          recentFrom,
          readOnly,
          features: () => features,
          end: () => {
            replaceable = undefined;
            selected = undefined;
          },
          events: () => notifications.request?.selected ?? ALL_OF_SELECTED,
          ownAdded,
          own: notifications.own,
        });
        replaceable = selection;
        const flags = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft'];
        const unseen = mailbox.messages.findIndex((message) => !message.flags.has('\\Seen'));
        return {
          selected: { ...reporting(methods), ...hooks.selected },
          mailbox: name,
          mailboxId: `F${mailbox.uidValidity}`,
          readOnly,
          exists: mailbox.messages.length,
          recent: mailbox.messages.filter(({ uid }) => uid >= recentFrom).length,
          firstUnseen: unseen < 0 ? undefined : unseen + 1,
          uidValidity: mailbox.uidValidity,
          uidNext: mailbox.uidNext,
          highestModseq: modseq,
          flags,
          permanentFlags: readOnly ? [] : [...flags, '\\*'],
        };
      },
    };
    const { create, delete: remove, rename, subscribe, unsubscribe, setMetadata, append } = account;
    return {
      ...account,
      create: ownMethod(create),
      delete: ownMethod(remove),
      rename: ownMethod(rename),
      subscribe: ownMethod(subscribe),
      unsubscribe: ownMethod(unsubscribe),
      setMetadata: ownMethod(setMetadata),
      append: ownMethod(append),
    };

    /** Returns the method, whose changes the session is not told of. */
    function ownMethod<Args extends unknown[], Result>(
      method: (...args: Args) => Promise<Result>,
    ): (...args: Args) => Promise<Result> {
      return async (...args) => {
        const from = selected?.uidNext ?? 0;
        const result = await notifications.own(() => method(...args));
        for (let uid = from; uid < (selected?.uidNext ?? 0); uid++) ownAdded.add(uid);
        notify();
        return result;
      };
    }
  }

  /** Returns what a URL names. */
  function octetsOf(url: string, selected: string | undefined): Buffer | undefined {
    const named = parseMessageUrl(url, selected);
    const mailbox = named && mail.mailboxes.get(named.mailbox);
    if (!mailbox || (named.uidValidity ?? mailbox.uidValidity) !== mailbox.uidValidity) return undefined;
    const bytes = mailbox.messages.find(({ uid }) => uid === named.uid)?.bytes;
    const range = bytes && findSection(readMimeTree(bytes), named.section);
    return range && cut(chooseFields(bytes.subarray(range.start, range.end), named.section), named.partial);
  }

  /** Methods of the selected mailbox that APPEND and REPLACE call. */
  type Replaceable = {
    name(): string | undefined;
    find(messages: Messages): number[] | undefined;
    has(uid: number): boolean;
    remove(uids: readonly number[]): void;
  };

  type View = {
    mailbox: MemoryMailbox;
    recentFrom: number;
    readOnly: boolean;
    features: () => Features;
    end: () => void;
    events: () => SelectedEvents;
    ownAdded: Set<number>;
    own: <Result>(change: () => Promise<Result>) => Promise<Result>;
  };

  function createSelected({
    mailbox,
    recentFrom,
    readOnly,
    features,
    end,
    events,
    ownAdded,
    own,
  }: View): SelectedMailbox & { replaceable: Replaceable } {
    /** Messages that the client was told of, with the modseq that it knows. */
    let known = mailbox.messages.map((message) => ({ message, modseq: message.modseq }));
    let saved: number[] = [];

    type Numbered = { number: number; entry: (typeof known)[number] };

    /** Returns the messages of a set; undefined when a sequence number does not exist. */
    function find(set: SequenceSet, uid: boolean): Numbered[] | undefined {
      const all = known.map((entry, index) => ({ number: index + 1, entry }));
      if (set === '$') return all.filter(({ entry }) => saved.includes(entry.message.uid));
      const numberOf = ({ number, entry }: Numbered) => (uid ? entry.message.uid : number);
      const ranges = resolveRanges(set, uid ? (known.at(-1)?.message.uid ?? 0) : known.length);
      if (!uid && ranges.some(([from, to]) => from < 1 || to > known.length)) return undefined;
      return all.filter((one) => ranges.some(([from, to]) => from <= numberOf(one) && numberOf(one) <= to));
    }

    /** Returns the messages that a search finds, in the order of the mailbox. */
    function findMatching(query: SearchQuery): Numbered[] {
      const last = known.length;
      const lastUid = known.at(-1)?.message.uid ?? 0;
      return known
        .map((entry, index) => ({ number: index + 1, entry }))
        .filter(({ number, entry: { message } }) =>
          query.keys.every((key) => matches(key, { message, number, last, lastUid, saved })),
        );
    }

    /** Returns the query with UIDs in the place of the sequence numbers that they have now. */
    function fixSets(query: SearchQuery): SearchQuery {
      const toUids = (set: SequenceSet) => {
        const ranges = set === '$' ? undefined : resolveRanges(set, known.length);
        return known.flatMap(({ message: { uid } }, index): SequenceRange[] => {
          const isIn = ranges
            ? ranges.some(([from, to]) => from <= index + 1 && index < to)
            : saved.includes(uid);
          return isIn ? [[uid, uid]] : [];
        });
      };
      return { ...query, keys: query.keys.map((key) => withFixedSets(key, toUids)) };
    }

    const contexts = createMemoryContexts({
      numberOf: (uid) => known.findIndex(({ message }) => message.uid === uid) + 1,
      find(query) {
        const found = findMatching(query).filter(({ entry }) => mailbox.messages.includes(entry.message));
        const rows = found.map(({ entry: { message } }) => rowOf(message, message.uid));
        return finishSteps(
          sortMessages(rows, query.arrangement.kind === 'sort' ? query.arrangement.criteria : []),
        );
      },
    });

    const flagsOf = ({ uid, flags }: MemoryMessage): string => {
      const isRecent = uid >= recentFrom && !features().rev2;
      return `FLAGS ${writeFlags(isRecent ? [...flags, '\\Recent'] : flags)}`;
    };

    function change({ entry }: Numbered, flags: Iterable<string>): void {
      entry.message.flags = new Set(flags);
      entry.message.modseq = ++modseq;
      notify();
    }

    async function copyTo(query: CopyQuery) {
      const from = mailbox.uidNext;
      const result = await own(() => copy(query));
      for (let uid = from; uid < mailbox.uidNext; uid++) ownAdded.add(uid);
      return result;
    }

    async function copy({ set, uid, to }: CopyQuery) {
      const target = mail.mailboxes.get(to);
      if (!target) return no('TRYCREATE', 'The mailbox does not exist');
      const found = find(set, uid);
      if (!found) return outOfRange();
      if (found.length === 0) return undefined;
      const uids = found.map(({ entry: { message } }) =>
        add(target, { ...message, ...message.internalDate }),
      );
      const from = formatNumbers(found.map(({ entry }) => entry.message.uid));
      return { uidValidity: target.uidValidity, from, to: formatNumbers(uids) };
    }

    /** UIDs of messages that the client has removed itself, and was not told of. */
    const ownRemoved = new Set<number>();

    function removeUids(uids: ReadonlySet<number>): void {
      for (const uid of uids) ownRemoved.add(uid);
      mailbox.messages = mailbox.messages.filter((message) => !uids.has(message.uid));
      notify();
    }

    function expungeDeleted(set: SequenceSet | undefined): void {
      const chosen =
        set === undefined ? undefined : new Set(find(set, true)?.map(({ entry }) => entry.message.uid));
      const deleted = mailbox.messages.filter(
        ({ uid, flags }) => flags.has('\\Deleted') && (chosen?.has(uid) ?? true),
      );
      if (deleted.length > 0) removeUids(new Set(deleted.map(({ uid }) => uid)));
    }

    return {
      replaceable: {
        name: () => [...mail.mailboxes].find(([, one]) => one === mailbox)?.[0],
        find: ({ set, uid }) => find(set, uid)?.map(({ entry }) => entry.message.uid),
        has: (uid) => mailbox.messages.some((message) => message.uid === uid),
        remove: (uids) => removeUids(new Set(uids)),
      },
      async *fetch({ set, uid, items, changedSince, vanished, partial }) {
        const all = find(set, uid);
        if (!all) return outOfRange();
        const found = partial ? pageOf(all, partial) : all;
        if (vanished && set !== '$') {
          const absent = resolveRanges(set, mailbox.uidNext - 1).flatMap(([from, to]) =>
            Array.from({ length: Math.min(to, mailbox.uidNext - 1) - from + 1 }, (_, index) => from + index),
          );
          const gone = absent.filter((one) => !known.some(({ message }) => message.uid === one));
          if (gone.length > 0) yield Buffer.from(`* VANISHED (EARLIER) ${formatNumbers(gone)}\r\n`);
        }
        let isUnknown = false;
        const setsSeen = !readOnly && items.some((item) => 'peek' in item && !item.peek);
        for (const one of found) {
          const { message } = one.entry;
          if (changedSince !== undefined && message.modseq <= changedSince) continue;
          const isNew = setsSeen && !message.flags.has('\\Seen');
          if (isNew) change(one, [...message.flags, '\\Seen']);
          const asksFlags = items.some(({ kind }) => kind === 'FLAGS');
          if (isNew || asksFlags) one.entry.modseq = message.modseq;
          const context: ItemContext = { form: textFormOf(features()), flags: flagsOf(message) };
          const pairs = items.flatMap((item) => {
            const wire = itemOf(message, item, context);
            if (wire === undefined) isUnknown = true;
            return wire === undefined ? [] : [wire];
          });
          if (isNew && !asksFlags) pairs.push(flagsOf(message));
          if (isNew && features().qresync) pairs.push(`UID ${message.uid}`);
          if (pairs.length > 0) yield writeFetch(one.number, pairs);
        }
        return isUnknown ? no('UNKNOWN-CTE', 'A transfer encoding is unknown') : undefined;
      },
      async *store({ set, uid, action, flags, silent, unchangedSince }) {
        const found = find(set, uid);
        if (!found) return outOfRange();
        const failed: number[] = [];
        for (const one of found) {
          const { message } = one.entry;
          if (unchangedSince !== undefined && message.modseq > unchangedSince) {
            failed.push(uid ? message.uid : one.number);
            continue;
          }
          const others = [...message.flags].filter((flag) => !flags.includes(flag));
          change(one, action === 'add' ? [...others, ...flags] : action === 'remove' ? others : flags);
          one.entry.modseq = message.modseq;
          const condstore = features().condstore;
          if (silent && !condstore) continue;
          yield writeFetch(one.number, [
            ...(uid || features().qresync ? [`UID ${message.uid}`] : []),
            ...(silent ? [] : [flagsOf(message)]),
            ...(condstore ? [`MODSEQ (${message.modseq})`] : []),
          ]);
        }
        return failed.length > 0 ? { noticed: `MODIFIED ${formatNumbers(failed)}` } : undefined;
      },
      async *search(query) {
        const isUpdated = query.esearch?.update !== undefined;
        if (isUpdated && contexts.has(query.tag)) return { refused: 'BAD', text: 'Tag reuse' };
        const fixed = fixSets(query);
        const found = findMatching(query);
        const { arrangement } = query;
        const rows = found.map(({ number, entry: { message } }) =>
          rowOf(message, query.uid ? message.uid : number),
        );
        if (arrangement.kind === 'thread') {
          yield Buffer.from(
            finishSteps(writeThreads(finishSteps(threadMessages(arrangement.algorithm, rows)))),
          );
          return undefined;
        }
        const criteria = arrangement.kind === 'sort' ? arrangement.criteria : [];
        const numbers = finishSteps(sortMessages(rows, criteria));
        const uids = query.uid ? numbers : numbers.flatMap((number) => known[number - 1]?.message.uid ?? []);
        if (query.esearch?.save) saved = numbersToSave(query.esearch, uids);
        const modseqs = found.map(({ entry }) => entry.message.modseq);
        const asksModseq = JSON.stringify(query.keys).includes('"modseq"');
        yield Buffer.from(
          writeSearchResult(query, { numbers, modseq: asksModseq ? Math.max(...modseqs) : undefined }),
        );
        if (isUpdated) yield* contexts.begin(fixed, uids);
        return undefined;
      },
      async cancelUpdates(tags) {
        contexts.cancel(tags);
        return undefined;
      },
      copy: copyTo,
      async move(query) {
        const moved = find(query.set, query.uid);
        const answer = await copyTo(query);
        if (!answer || !('from' in answer)) return answer;
        removeUids(new Set(moved?.map(({ entry }) => entry.message.uid)));
        return { ...answer, modseq: ++modseq };
      },
      async expunge(uids) {
        const before = mailbox.messages.length;
        expungeDeleted(uids);
        const isNoticed = features().qresync && mailbox.messages.length < before;
        return isNoticed ? { noticed: `HIGHESTMODSEQ ${++modseq}` } : undefined;
      },
      async *changes(kind) {
        const lines: string[] = [];
        const wanted = events();
        const isGone = ({ message }: (typeof known)[number]) => !mailbox.messages.includes(message);
        const vanished: number[] = [];
        lines.push(...contexts.removed(new Set(known.filter(isGone).map(({ message }) => message.uid))));
        for (let index = known.length - 1; index >= 0 && kind !== 'withoutExpunge'; index--) {
          const entry = known[index];
          if (!entry || !isGone(entry)) continue;
          if (!wanted.messages && !ownRemoved.has(entry.message.uid)) continue;
          if (features().qresync) vanished.unshift(entry.message.uid);
          else lines.push(`* ${index + 1} EXPUNGE\r\n`);
          known = known.toSpliced(index, 1);
        }
        if (vanished.length > 0) lines.push(`* VANISHED ${formatNumbers(vanished)}\r\n`);
        const lastUid = known.at(-1)?.message.uid ?? 0;
        const added = mailbox.messages.filter(({ uid }) => uid > lastUid);
        if (added.length > 0 && wanted.messages) {
          known = [...known, ...added.map((message) => ({ message, modseq: message.modseq }))];
          lines.push(`* ${known.length} EXISTS\r\n`);
          if (!features().rev2)
            lines.push(`* ${known.filter(({ message }) => message.uid >= recentFrom).length} RECENT\r\n`);
        }
        for (const [index, entry] of known.entries()) {
          if (entry.modseq === entry.message.modseq || isGone(entry) || !wanted.flags) continue;
          entry.modseq = entry.message.modseq;
          const items = [
            `UID ${entry.message.uid}`,
            flagsOf(entry.message),
            ...(features().condstore ? [`MODSEQ (${entry.modseq})`] : []),
          ];
          lines.push(writeFetch(index + 1, items).toString());
        }
        const isNew = ({ message }: (typeof known)[number]) =>
          message.uid > lastUid && !ownAdded.has(message.uid);
        const asked = known.map((entry) => (isNew(entry) ? [...wanted.items] : []));
        const updates = contexts.changed((uid, items) => {
          const index = known.findIndex(({ message }) => message.uid === uid);
          const entry = known[index];
          if (entry && isNew(entry)) asked[index]?.push(...items);
        });
        ownAdded.clear();
        if (lines.length > 0) yield Buffer.from(lines.join(''));
        for (const [index, items] of asked.entries()) {
          if (items.length === 0) continue;
          if (features().qresync) items.unshift({ kind: 'UID' });
          yield* this.fetch({
            set: [[index + 1, index + 1]],
            uid: false,
            items: [...new Map(items.map((item) => [JSON.stringify(item), item])).values()],
            changedSince: undefined,
            vanished: false,
            partial: undefined,
          });
        }
        if (updates.length > 0) yield Buffer.from(updates.join(''));
        return undefined;
      },
      async close({ expunge }) {
        if (expunge) expungeDeleted(undefined);
        end();
        return undefined;
      },
    };
  }
}

/** Returns the methods with answers that end with changes where that is asked for. */
function reporting(selected: SelectedMailbox): SelectedMailbox {
  return {
    ...selected,
    fetch: (query) => endWithChanges(selected.fetch(query), query, selected),
    store: (query) => endWithChanges(selected.store(query), query, selected),
    search: (query) => endWithChanges(selected.search(query), query, selected),
  };
}

function outOfRange(): Refusal {
  return { refused: 'BAD', text: 'A sequence number does not exist' };
}

function statusOf(mailbox: MemoryMailbox, items: readonly StatusItem[]): StatusValues {
  const { messages, uidNext, uidValidity, recentFrom } = mailbox;
  const count = (isCounted: (message: MemoryMessage) => boolean) => messages.filter(isCounted).length;
  const values: StatusValues = {
    MESSAGES: messages.length,
    RECENT: count(({ uid }) => uid >= recentFrom),
    UIDNEXT: uidNext,
    UIDVALIDITY: uidValidity,
    UNSEEN: count(({ flags }) => !flags.has('\\Seen')),
    DELETED: count(({ flags }) => flags.has('\\Deleted')),
    'DELETED-STORAGE': messages
      .filter(({ flags }) => flags.has('\\Deleted'))
      .reduce((sum, { bytes }) => sum + bytes.length, 0),
    SIZE: messages.reduce((sum, { bytes }) => sum + bytes.length, 0),
    HIGHESTMODSEQ: Math.max(1, ...messages.map(({ modseq }) => modseq)),
    MAILBOXID: `F${uidValidity}`,
  };
  return Object.fromEntries(items.map((item) => [item, values[item]]));
}

async function* list(mail: MemoryMail, query: ListQuery, features: Features): Chunks {
  const form = textFormOf(features);
  const { mailboxes, subscribed } = mail;
  const { response } = query;
  const isWanted = (name: string) =>
    (!query.select.subscribed || subscribed.has(name)) &&
    (!query.select.specialUse || mailboxes.get(name)?.specialUse !== undefined);
  const asksSubscribed = response === 'LSUB' || query.select.subscribed;
  const names = new Set([...mailboxes.keys(), ...(asksSubscribed ? subscribed : [])]);
  const parents = [...names].flatMap((name) => {
    const levels = name.split('/');
    return levels.slice(1).map((_, index) => levels.slice(0, index + 1).join('/'));
  });
  for (const name of [...new Set([...names, ...parents])].sort()) {
    const isMatch = (other: string) => query.patterns.some((pattern) => patternOf(pattern).test(other));
    if (!isMatch(name)) continue;
    const children = [...names].filter((other) => other.startsWith(`${name}/`));
    const hasWanted = children.some(isWanted);
    const hasUnreached = children.some((child) => isWanted(child) && !isMatch(child));
    const isParent = !isWanted(name) && hasUnreached && (response === 'LSUB' || query.select.recursiveMatch);
    if (!isParent && !(isWanted(name) && names.has(name))) continue;
    const mailbox = mailboxes.get(name);
    const attributes = [
      ...(response === 'LSUB' && isParent ? ['\\Noselect'] : mailbox ? [] : ['\\NonExistent']),
      ...(query.return.subscribed && subscribed.has(name) ? ['\\Subscribed'] : []),
      ...(query.return.children ? [children.length > 0 ? '\\HasChildren' : '\\HasNoChildren'] : []),
      ...(query.return.specialUse && mailbox?.specialUse ? [mailbox.specialUse] : []),
    ];
    const childInfo = query.select.recursiveMatch && hasWanted ? ['SUBSCRIBED'] : [];
    yield Buffer.from(writeListed({ response, mailbox: name, attributes, childInfo }, form));
    const items = query.return.status;
    if (items.length > 0 && mailbox) {
      const values = { ...statusOf(mailbox, items), APPENDLIMIT: query.appendLimit };
      yield Buffer.from(writeStatus({ mailbox: name, items, values }, form));
    }
  }
  return undefined;
}

function patternOf(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('%', '[^/]*')}$`, 's');
}

type Candidate = {
  message: MemoryMessage;
  number: number;
  last: number;
  lastUid: number;
  saved: readonly number[];
};

function matches(key: SearchKey, candidate: Candidate): boolean {
  const { message, number, last, lastUid, saved } = candidate;
  const contains = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());
  switch (key.kind) {
    case 'all':
      return true;
    case 'and':
      return key.keys.every((one) => matches(one, candidate));
    case 'or':
      return key.keys.some((one) => matches(one, candidate));
    case 'not':
      return !matches(key.key, candidate);
    case 'flag':
      return message.flags.has(key.flag);
    case 'set': {
      if (key.set === '$') return saved.includes(message.uid);
      const own = key.uid ? message.uid : number;
      return resolveRanges(key.set, key.uid ? lastUid : last).some(([from, to]) => from <= own && own <= to);
    }
    case 'text':
      return contains(message.bytes.toString(), key.text);
    case 'body':
      return contains(message.bytes.toString('utf8', readMimeTree(message.bytes).body), key.text);
    case 'header':
      return fieldsOf(message).some(
        ({ name, line }) => name === key.field && contains(line.slice(name.length + 1), key.text),
      );
    case 'date': {
      const day = new Date(message.internalDate.atMs).toISOString().slice(0, 10);
      return key.comparison === 'before'
        ? day < key.day
        : key.comparison === 'on'
          ? day === key.day
          : day >= key.day;
    }
    case 'older':
    case 'younger':
    case 'emailId':
      return false;
    case 'larger':
      return message.bytes.length > key.sizeBytes;
    case 'smaller':
      return message.bytes.length < key.sizeBytes;
    case 'modseq':
      return message.modseq >= key.atLeast;
  }
}

function fieldsOf({ bytes }: MemoryMessage): { name: string; line: string }[] {
  return bytes
    .toString('utf8', 0, readMimeTree(bytes).body)
    .split(/\r\n(?![ \t])/)
    .filter((line) => line !== '')
    .map((line) => line.replaceAll('\r\n', ''))
    .map((line) => ({ name: line.slice(0, line.indexOf(':')).toLowerCase(), line }));
}

/** Returns what SORT and THREAD need to know of a message. */
function rowOf({ bytes, internalDate }: MemoryMessage, number: number) {
  const { fields } = readMimeTree(bytes);
  return {
    number,
    internalAt: internalDate.atMs,
    sizeBytes: bytes.length,
    keys: readSortKeys(fields),
    thread: readThreadKeys(fields),
  };
}

type ItemContext = { form: TextForm; flags: string };

/** Returns the item of one message; undefined for a transfer encoding that is unknown. */
function itemOf(
  message: MemoryMessage,
  item: FetchItem,
  { form, flags }: ItemContext,
): string | WirePieces | undefined {
  const { bytes } = message;
  const root = readMimeTree(bytes);
  switch (item.kind) {
    case 'UID':
      return `UID ${message.uid}`;
    case 'FLAGS':
      return flags;
    case 'INTERNALDATE':
      return `INTERNALDATE ${writeInternalDate(message.internalDate)}`;
    case 'RFC822.SIZE':
      return `RFC822.SIZE ${bytes.length}`;
    case 'MODSEQ':
      return `MODSEQ (${message.modseq})`;
    case 'EMAILID':
      return `EMAILID (M${message.modseq})`;
    case 'SAVEDATE':
    case 'PREVIEW':
    case 'THREADID':
      return `${item.kind} NIL`;
    case 'ENVELOPE':
      return `ENVELOPE ${writeEnvelope(root.fields, form)}`;
    case 'BODY':
    case 'BODYSTRUCTURE':
      return `${item.kind} ${writeBodyStructure(root, { item: item.kind, text: form })}`;
    case 'BINARY':
    case 'BINARY.SIZE':
      return binaryOf(bytes, item);
    case 'SECTION': {
      const range = findSection(root, item.section);
      const found = range && chooseFields(bytes.subarray(range.start, range.end), item.section);
      return writeSection(labelOf(item), found && cut(found, item.partial));
    }
  }
}

function binaryOf(
  bytes: Buffer,
  item: FetchItem & { kind: 'BINARY' | 'BINARY.SIZE' },
): string | WirePieces | undefined {
  const found = findBinary(readMimeTree(bytes), item.part);
  const decoded = found && decodeTransfer(bytes.subarray(found.range.start, found.range.end), found.encoding);
  if (found && !decoded) return undefined;
  if (item.kind === 'BINARY') {
    const octets = decoded && cut(decoded, item.partial);
    if (!octets) return writeSection(labelOf(item), octets);
    return [Buffer.from(`${labelOf(item)} `), ...writeOctets(octets, { isBinary: octets.includes(0) })];
  }
  return `BINARY.SIZE[${item.part.join('.')}] ${decoded?.length ?? 0}`;
}

function cut(octets: Buffer, partial: { offset: number; count: number } | undefined): Buffer {
  const { start, end } = partialRange({ start: 0, end: octets.length }, partial);
  return octets.subarray(start, end);
}
