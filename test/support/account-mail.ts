/** IMAP sessions over an account on disk, for one user, and what other sessions and deliveries do to it meanwhile. */
import { after } from 'node:test';
import type { OpenAccount } from '../../src/accounts/account.ts';
import { addMessages } from '../../src/accounts/add.ts';
import { prepareContent } from '../../src/accounts/content.ts';
import { expungeAny } from '../../src/accounts/expunge-messages.ts';
import { readFlags } from '../../src/accounts/flags.ts';
import { findFolderByName, listFolderRows } from '../../src/accounts/folder-store.ts';
import { createFolder, deleteFolder, unsubscribe } from '../../src/accounts/folders.ts';
import { openImapAccount } from '../../src/accounts/imap/imap-account.ts';
import type { Account, SelectedMailbox } from '../../src/mail/imap/session.ts';
import { isRefusal } from '../../src/mail/imap/session.ts';
import { createAccountApp, openTestAccount } from './test-account.ts';

/** The one user of test servers. */
export const USER = { username: 'user@test.example', password: 'secret word' };

type Delivery = { flags?: readonly string[]; prefix?: string; atMs?: number; zoneMinutes?: number };

/** Methods that take the place of those of the account, or of its selected mailbox. */
export type Hooks = { account?: Partial<Account>; selected?: Partial<SelectedMailbox> };

export type AccountMail = {
  account: OpenAccount;
  /** Opens the account of a session. */
  openAccount(): Account;
  /** Number of accounts of sessions that are open. */
  openSessions: number;
  /** Adds a message to a folder, as deliveries do. */
  deliver(folder: string, text: string | Buffer, options?: Delivery): Promise<void>;
  /** Returns the number of messages of a folder. */
  count(folder: string): Promise<number | undefined>;
  folders(): Promise<string[]>;
  addFolder(name: string, specialUse?: string): Promise<void>;
  /** Removes a message from a folder, as another session does. */
  remove(folder: string, uid: number): Promise<void>;
};

type Options = Hooks & {
  quotaBytes?: number | null;
  app?: Parameters<typeof openTestAccount>[0];
  disabledCapabilities?: readonly string[];
};

/** Returns a new account, which is closed after the test, or after those of the file. */
export async function createAccountMail({
  app = createAccountApp(),
  ...options
}: Options = {}): Promise<AccountMail> {
  const account = await openTestAccount(app);
  after(() => account.close());
  return mailOf(account, options);
}

/** Returns a new account that has only INBOX. */
export async function createEmptyMail(options: Options = {}): Promise<AccountMail> {
  const mail = await createAccountMail(options);
  for (const name of await mail.folders()) {
    if (name === 'INBOX') continue;
    await deleteFolder(mail.account, name);
    await unsubscribe(mail.account, name);
  }
  return mail;
}

/** Returns the mail of an account. */
export function mailOf(
  account: OpenAccount,
  { quotaBytes = null, disabledCapabilities = [], ...hooks }: Omit<Options, 'app'> = {},
): AccountMail {
  const mail: AccountMail = {
    account,
    openSessions: 0,
    openAccount() {
      mail.openSessions++;
      const opened = openImapAccount(account, { disabledCapabilities, quotaBytes });
      return withHooks<Account>(opened, {
        async select(...args) {
          const answer = await opened.select(...args);
          if (isRefusal(answer)) return answer;
          return { ...answer, selected: withHooks(answer.selected, hooks.selected) };
        },
        close() {
          opened.close();
          mail.openSessions--;
        },
        ...hooks.account,
      });
    },
    async deliver(folder, text, { flags = [], prefix = '', atMs = 0, zoneMinutes = 0 } = {}) {
      const content = await prepareContent(account, [Buffer.from(text)]);
      const message = {
        content,
        ...readFlags(flags),
        internalDate: { atMs, zoneMinutes },
        prefix: Buffer.from(prefix),
      };
      const added = await addMessages(account, { folder, messages: [message] });
      if ('refused' in added) throw new Error(`the message was refused: ${added.refused}`);
    },
    count: async (folder) => (await findFolderByName(account.db.read, folder))?.messageCount,
    folders: async () => (await listFolderRows(account.db.read)).map(({ name }) => name).sort(),
    async addFolder(name, specialUse) {
      await createFolder(account, name, specialUse ?? null);
    },
    async remove(name, uid) {
      const folder = await findFolderByName(account.db.read, name);
      const folderId = folder?.id ?? 0;
      const expunged = await account.db.commit(expungeAny, {
        folderId,
        ranges: [{ uidFrom: uid, uidTo: uid }],
      });
      if (expunged) account.changes.publish({ kind: 'expunged', folderId, ...expunged });
    },
  };
  return mail;
}

/** Returns an object some of whose methods are replaced. */
function withHooks<Target extends object>(target: Target, hooks: Partial<Target> = {}): Target {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(hooks, name)) return hooks[name as keyof Target];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
