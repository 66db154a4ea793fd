/** The mail of a user who has logged in by IMAP, over an open account. */
import { textFormOf } from '../../../mail/imap/encode/strings.ts';
import type { Account, Features, Refusal, Selection } from '../../../mail/imap/session.ts';
import type { OpenAccount } from '../account.ts';
import { changesBy } from '../changes.ts';
import { SEEN } from '../flags.ts';
import { findFolderByName, findFolderBySpecialUse } from '../folder-store.ts';
import { createFolder, deleteFolder, renameFolder, subscribe, unsubscribe } from '../folders.ts';
import { findAccountRow } from '../store.ts';
import { AccountNews } from './account-news.ts';
import { stateOf } from './account-state.ts';
import { appendMessages } from './append.ts';
import type { FolderState } from './folder-state.ts';
import { KeptMemory } from './kept-memory.ts';
import { listFolders } from './list.ts';
import { metadataMethods } from './metadata.ts';
import { missingMailbox } from './refusals.ts';
import { replaceIn } from './replace.ts';
import { listStatuses, reportNews } from './report-news.ts';
import { SearchContexts } from './search-contexts.ts';
import { createSelected } from './selected.ts';
import { flagLists, type SelectedState } from './session-state.ts';
import { statusOf } from './status.ts';
import { View } from './view.ts';

type ImapOptions = {
  /** Capabilities that are not advertised to this user, in upper case. */
  disabledCapabilities: readonly string[];
  /** Maximum size of all messages; null for no limit. It may change while the session is open. */
  quotaBytes: number | null;
};

/** An account and its end: `close` frees what the session holds, in whatever state the connection ends. */
type ImapAccount = Account & { close(): void };

const NO_FEATURES: Features = { rev2: false, utf8: false, condstore: false, qresync: false, metadata: false };

/** Returns the account of one session. */
export function openImapAccount(openAccount: OpenAccount, options: Readonly<ImapOptions>): ImapAccount {
  const shared = stateOf(openAccount);
  // The object stands for the session in the changes that it makes.
  const origin = {};
  const account = { ...openAccount, changes: changesBy(origin, openAccount.changes) };
  let features = NO_FEATURES;
  let selected: SelectedState | undefined;
  const news = new AccountNews(account, origin);
  const session = () => ({ shared, news, features, selectedId: selected?.view.state.folderId });
  const form = () => textFormOf(features);

  function close(): void {
    const ended = selected;
    selected = undefined;
    if (ended) endSelection(ended);
  }

  async function select(mailbox: string, readOnly: boolean): Promise<Selection | Refusal> {
    close();
    const folder = await findFolderByName(account.db.read, mailbox);
    const state = folder && (await shared.enter(folder.id));
    if (!state) return missingMailbox();
    const view = new View(state, { isReadOnly: readOnly, origin });
    view.watch(() => news.notify());
    const own: SelectedState = {
      shared,
      account,
      view,
      features: () => features,
      events: () => news.selected,
      quotaBytes: () => options.quotaBytes,
      announced: new Set(),
      contexts: new SearchContexts(view, new KeptMemory(account)),
      savedMemory: new KeptMemory(account),
    };
    selected = own;
    const end = (): void => {
      if (selected === own) close();
    };
    return {
      selected: createSelected(own, end),
      mailbox: folder.name,
      mailboxId: folder.objectId,
      ...(await describe(own)),
    };
  }

  return {
    disabledCapabilities: options.disabledCapabilities,
    enable(enabled) {
      if (selected && enabled.condstore && !features.condstore) selected.view.owesHighestModseq = true;
      if (enabled.metadata) news.askMetadata();
      features = enabled;
    },
    list: (query) => listFolders(shared, query, form()),
    async status(mailbox, items) {
      const folder = await findFolderByName(account.db.read, mailbox);
      return folder ? await statusOf(shared, folder, items) : missingMailbox();
    },
    quota: () => readQuota(account, options.quotaBytes),
    ...metadataMethods(account, form),
    async *notify(request) {
      news.set(request);
      return request.status ? yield* listStatuses(session()) : undefined;
    },
    accountChanges: () => reportNews(session()),
    watch: (onChange) => news.watch(onChange),
    ...folderMethods(account),
    async delete(mailbox) {
      const folder = await findFolderByName(account.db.read, mailbox);
      const view = selected?.view;
      if (view && folder?.id === view.state.folderId) view.isDeletedHere = true;
      await deleteFolder(account, mailbox);
      return undefined;
    },
    append(mailbox, messages, replaced) {
      const selectedId = selected?.view.state.folderId;
      const append = { mailbox, messages, quotaBytes: options.quotaBytes, selectedId };
      return replaced && selected ? replaceIn(selected, append, replaced) : appendMessages(account, append);
    },
    select: (mailbox, { readOnly }) => select(mailbox, readOnly),
    close() {
      close();
      news.end();
    },
  };
}

/** Frees what a session keeps of its selected folder. */
function endSelection({ shared, view, contexts, savedMemory }: SelectedState): void {
  contexts.end();
  savedMemory.resize(0);
  shared.leave(view);
}

async function readQuota({ db }: OpenAccount, maxBytes: number | null): ReturnType<Account['quota']> {
  return { usedBytes: (await findAccountRow(db.read))?.usedBytes ?? 0, maxBytes };
}

/** Returns the methods of a session that change names, and concern no selected folder. */
function folderMethods(
  account: OpenAccount,
): Pick<Account, 'create' | 'rename' | 'subscribe' | 'unsubscribe'> {
  return {
    async create({ mailbox, specialUse }) {
      const isUsed = specialUse !== undefined && (await findFolderBySpecialUse(account.db.read, specialUse));
      if (isUsed) return { refused: 'NO', code: 'USEATTR', text: 'Another mailbox has this special use' };
      const { objectId } = await createFolder(account, mailbox, specialUse ?? null);
      return { noticed: `MAILBOXID (${objectId})` };
    },
    async rename(from, to) {
      await renameFolder(account, from, to);
      return undefined;
    },
    async subscribe(mailbox) {
      await subscribe(account, mailbox);
      return undefined;
    },
    async unsubscribe(mailbox) {
      await unsubscribe(account, mailbox);
      return undefined;
    },
  };
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
    highestModseq: view.toldModseq,
  };
  const sets = keywordSetsOf(state);
  await shared.loadKeywords(sets);
  for (const setId of sets) for (const keyword of shared.keywordsOf(setId)) announced.add(keyword);
  return { ...counts, ...flagLists(announced, view) };
}

/** Returns the sets of keywords in use. Neighbours often have the same one. */
function keywordSetsOf({ keywordSetIds, count }: FolderState): Set<number> {
  const sets = new Set<number>();
  for (let index = 0; index < count; index++)
    if (index === 0 || keywordSetIds[index] !== keywordSetIds[index - 1])
      sets.add(keywordSetIds[index] as number);
  return sets;
}

function findFirstUnseen({ state, count, uids }: View): number | undefined {
  const { flags, uids: stateUids } = state;
  let index = 0;
  for (let number = 1; number <= count; number++) {
    while (stateUids[index] !== uids[number - 1]) index++;
    if (((flags[index++] as number) & SEEN) === 0) return number;
  }
  return undefined;
}
