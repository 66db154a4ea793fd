/** The mail of a user who has logged in by IMAP, over an open account. */

import { type TextForm, textFormOf } from '../../mail/imap/encode/strings.ts';
import type { MetadataQuery } from '../../mail/imap/metadata.ts';
import type { NotifyRequest } from '../../mail/imap/notify.ts';
import type { Account, Chunks, Features, ListQuery, Selection } from '../../mail/imap/session.ts';
import type { OpenAccount } from '../account.ts';
import { changesBy } from '../changes.ts';
import { findFolderByName, findFolderBySpecialUse } from '../folder-store.ts';
import { createFolder, deleteFolder, renameFolder, subscribe, unsubscribe } from '../folders.ts';
import { findAccountRow } from '../store.ts';
import { AccountNotifications } from './account-notifications.ts';
import { type AccountState, stateOf } from './account-state.ts';
import { appendMessages } from './append.ts';
import { listFolders } from './list.ts';
import { listMetadata, setEntries } from './metadata.ts';
import { replaceIn } from './replace.ts';
import { listStatuses, reportNotifications } from './report-notifications.ts';
import { missingMailbox } from './responses.ts';
import { SearchContexts } from './search-contexts.ts';
import { Selected } from './selected.ts';
import { SessionMemory } from './session-memory.ts';
import { flagLists, type SelectedState } from './session-state.ts';
import { statusOf } from './status.ts';
import { View } from './view.ts';

type ImapOptions = {
  /** Capabilities that are not advertised to this user, in upper case. */
  disabledCapabilities: readonly string[];
  /** Maximum size of all messages; null for no limit. It may change while the session is open. */
  quotaBytes: number | null;
};

const NO_FEATURES: Features = { rev2: false, utf8: false, condstore: false, qresync: false, metadata: false };

/** The account of one session. The object stands for the session in the changes that it makes. */
class ImapAccount implements Account {
  readonly #shared: AccountState;
  readonly #account: OpenAccount;
  readonly #options: Readonly<ImapOptions>;
  readonly #notifications: AccountNotifications;
  #features = NO_FEATURES;
  #selected: SelectedState | undefined;

  constructor(account: OpenAccount, options: Readonly<ImapOptions>) {
    this.#shared = stateOf(account);
    this.#account = { ...account, changes: changesBy(this, account.changes) };
    this.#options = options;
    this.#notifications = new AccountNotifications(this.#account, this);
  }

  get disabledCapabilities(): readonly string[] {
    return this.#options.disabledCapabilities;
  }

  enable(enabled: Features): void {
    if (this.#selected && enabled.condstore && !this.#features.condstore)
      this.#selected.view.pending.owesHighestModseq = true;
    if (enabled.metadata) this.#notifications.askMetadata();
    this.#features = enabled;
  }

  list(query: ListQuery): Chunks {
    return listFolders(this.#shared, query, this.#form);
  }

  async status(...[mailbox, items]: Parameters<Account['status']>): ReturnType<Account['status']> {
    const folder = await findFolderByName(this.#account.db.read, mailbox);
    return folder ? await statusOf(this.#shared, folder, items) : missingMailbox();
  }

  async quota(): ReturnType<Account['quota']> {
    const row = await findAccountRow(this.#account.db.read);
    return { usedBytes: row?.usedBytes ?? 0, maxBytes: this.#options.quotaBytes };
  }

  getMetadata(query: MetadataQuery): Chunks {
    return listMetadata(this.#account, query, this.#form);
  }

  setMetadata(...[mailbox, entries]: Parameters<Account['setMetadata']>): ReturnType<Account['setMetadata']> {
    return setEntries(this.#account, { mailbox, entries });
  }

  async create(...[{ mailbox, specialUse }]: Parameters<Account['create']>): ReturnType<Account['create']> {
    const { read } = this.#account.db;
    const isUsed = specialUse !== undefined && (await findFolderBySpecialUse(read, specialUse));
    if (isUsed) return { refused: 'NO', code: 'USEATTR', text: 'Another mailbox has this special use' };
    const { objectId } = await createFolder(this.#account, mailbox, specialUse ?? null);
    return { noticed: `MAILBOXID (${objectId})` };
  }

  async delete(mailbox: string): ReturnType<Account['delete']> {
    const folder = await findFolderByName(this.#account.db.read, mailbox);
    const view = this.#selected?.view;
    if (view && folder?.id === view.state.folderId) view.pending.isDeletedHere = true;
    await deleteFolder(this.#account, mailbox);
    return undefined;
  }

  async rename(from: string, to: string): ReturnType<Account['rename']> {
    await renameFolder(this.#account, from, to);
    return undefined;
  }

  async subscribe(mailbox: string): ReturnType<Account['subscribe']> {
    await subscribe(this.#account, mailbox);
    return undefined;
  }

  async unsubscribe(mailbox: string): ReturnType<Account['unsubscribe']> {
    await unsubscribe(this.#account, mailbox);
    return undefined;
  }

  async *notify(request: NotifyRequest): Chunks {
    this.#notifications.set(request);
    return request.status ? yield* listStatuses(this.#session) : undefined;
  }

  accountChanges(): Chunks {
    return reportNotifications(this.#session);
  }

  watch(onChange: () => void): () => void {
    return this.#notifications.watch(onChange);
  }

  append(...[mailbox, messages, replaced]: Parameters<Account['append']>): ReturnType<Account['append']> {
    const selected = this.#selected;
    const { quotaBytes } = this.#options;
    const append = { mailbox, messages, quotaBytes, selectedId: selected?.view.state.folderId };
    return replaced && selected
      ? replaceIn(selected, append, replaced)
      : appendMessages(this.#account, append);
  }

  async select(...[mailbox, { readOnly }]: Parameters<Account['select']>): ReturnType<Account['select']> {
    this.#unselect();
    const folder = await findFolderByName(this.#account.db.read, mailbox);
    const state = folder && (await this.#shared.enter(folder.id));
    if (!state) return missingMailbox();
    const view = new View(state, { isReadOnly: readOnly, origin: this });
    view.watch(() => this.#notifications.notify());
    const own: SelectedState = {
      shared: this.#shared,
      account: this.#account,
      view,
      features: () => this.#features,
      events: () => this.#notifications.selected,
      quotaBytes: () => this.#options.quotaBytes,
      announced: new Set(),
      contexts: new SearchContexts(view, new SessionMemory(this.#account)),
      savedMemory: new SessionMemory(this.#account),
    };
    this.#selected = own;
    const selected = new Selected(own, (ended) => {
      if (this.#selected === ended) this.#unselect();
    });
    const { name, objectId } = folder;
    return { selected, mailbox: name, mailboxId: objectId, ...(await describe(own)) };
  }

  /** Frees what the session holds, in whatever state the connection ends. */
  close(): void {
    this.#unselect();
    this.#notifications.end();
  }

  get #form(): TextForm {
    return textFormOf(this.#features);
  }

  get #session(): Parameters<typeof reportNotifications>[0] {
    const selectedId = this.#selected?.view.state.folderId;
    return { shared: this.#shared, notifications: this.#notifications, features: this.#features, selectedId };
  }

  #unselect(): void {
    const ended = this.#selected;
    this.#selected = undefined;
    if (ended) endSelection(ended);
  }
}

/** Returns the account of one session. */
export function openImapAccount(account: OpenAccount, options: Readonly<ImapOptions>): ImapAccount {
  return new ImapAccount(account, options);
}

/** Frees what a session keeps of its selected folder. */
function endSelection({ shared, view, contexts, savedMemory }: SelectedState): void {
  contexts.end();
  savedMemory.resize(0);
  shared.leave(view);
}

type Description = Omit<Selection, 'selected' | 'mailbox' | 'mailboxId'>;

/** Describes the folder at the moment when its messages got their sequence numbers. */
async function describe({ shared, view, announced }: SelectedState): Promise<Description> {
  const { state, isReadOnly } = view;
  const counts = {
    readOnly: isReadOnly,
    exists: view.count,
    recent: view.recentCount,
    firstUnseen: findFirstUnseen(view),
    uidValidity: state.uidValidity,
    uidNext: state.uidNext,
    highestModseq: view.reported.modseq,
  };
  await shared.loadKeywords(state.keywordSets);
  for (const setId of state.keywordSets)
    for (const keyword of shared.keywordsOf(setId)) announced.add(keyword);
  return { ...counts, ...flagLists(announced, view) };
}

function findFirstUnseen(view: View): number | undefined {
  const uid = view.state.findFirstUnseen();
  return uid === undefined ? undefined : view.numberOf(uid);
}
