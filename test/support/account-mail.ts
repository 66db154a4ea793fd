/** IMAP sessions over an account on disk, for one user, and what other sessions and deliveries do to it meanwhile. */
import { after } from 'node:test';
import type { OpenAccount } from '../../src/accounts/account.ts';
import { addMessages } from '../../src/accounts/add.ts';
import { prepareContent } from '../../src/accounts/content.ts';
import { readFlags } from '../../src/accounts/flags.ts';
import { openImapAccount } from '../../src/accounts/imap/imap-account.ts';
import type { Account, OpenSession, Refusal } from '../../src/mail/imap/session.ts';
import type { PasswordCredentials } from '../../src/mail/sasl/exchange.ts';
import { USER } from './memory-imap-session.ts';
import { createScramSession } from './scram-client.ts';
import { createAccountApp, openTestAccount } from './test-account.ts';

type Delivery = { flags?: readonly string[]; prefix?: string; atMs?: number; zoneMinutes?: number };

export type AccountMail = {
  account: OpenAccount;
  openSession: OpenSession;
  /** Adds a message to a folder, as deliveries do. */
  deliver(folder: string, text: string | Buffer, options?: Delivery): Promise<void>;
};

/** Returns a new account, which is closed after the tests of the file. */
export async function createAccountMail({
  quotaBytes = null as number | null,
  app = createAccountApp(),
} = {}): Promise<AccountMail> {
  const account = await openTestAccount(app);
  after(() => account.close());
  return mailOf(account, { quotaBytes });
}

/** Returns the mail of an account. */
export function mailOf(account: OpenAccount, { quotaBytes = null as number | null } = {}): AccountMail {
  const wrong: Refusal = { refused: 'NO', code: 'AUTHENTICATIONFAILED', text: 'The password is wrong' };
  return {
    account,
    openSession() {
      let close = (): void => {};
      const login = async ({ username, password }: PasswordCredentials): Promise<Account | Refusal> => {
        if (username !== USER.username || password !== USER.password) return wrong;
        const opened = openImapAccount(account, { disabledCapabilities: [], quotaBytes });
        close = () => opened.close();
        return opened;
      };
      return {
        login,
        ...createScramSession(USER, login),
        close: () => close(),
      };
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
  };
}
