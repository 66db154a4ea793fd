/** The sessions of users who have logged in by IMAP or POP3: each is served in the thread of its account. */
import type { MessagePort } from 'node:worker_threads';
import type { User, UserStream } from '../mail/access/serve-user.ts';
import { serveImapUser } from '../mail/imap/server.ts';
import { servePop3User } from '../mail/pop3/server.ts';
import { isRefusal, type MaildropSize } from '../mail/pop3/session.ts';
import { createPause } from '../system/slices.ts';
import { StreamPort } from '../system/thread/streams.ts';
import type { AccountApp } from './account.ts';
import { openImapAccount } from './imap/imap-account.ts';
import { openMaildrop } from './maildrop.ts';
import type { AccountSettings, HeldAccount, OpenAccounts } from './open-accounts.ts';
import type { Protocol } from './protocols.ts';
import type { SessionCredential } from './session-credential.ts';

/** A login to an account, with a credential. The session comes over a link from the thread of the listeners. */
export type SessionRequest = {
  account: AccountSettings;
  link: string;
  protocol: Protocol;
  credential: SessionCredential;
};

/** A session that waits on a stream, or the refusal of a maildrop that another session has. */
export type Admitted = { stream: number; maildrop?: MaildropSize } | { refused: 'in-use' };

type Sessions = {
  /** Serves sessions over this port from now on. */
  connect(link: string, port: MessagePort): void;
  /** Opens a session; undefined when there is no such link. */
  admit(request: SessionRequest): Promise<Admitted | undefined>;
};

/** Returns the sessions of a thread, of which there are none. */
export function createSessions(app: AccountApp, accounts: OpenAccounts): Sessions {
  const ports = new Map<string, StreamPort>();
  const pause = createPause(app.clock);
  let last = 0;

  async function open(
    { account, settings }: HeldAccount,
    { stream, protocol }: { stream: UserStream; protocol: Protocol },
  ): Promise<{ user: User; maildrop?: MaildropSize } | undefined> {
    const context = { clock: app.clock, log: app.log, owner: account.id, pause };
    if (protocol === 'imap')
      return { user: serveImapUser(context, stream, openImapAccount(account, settings)) };
    const maildrop = await openMaildrop(account);
    if (isRefusal(maildrop)) return undefined;
    const { sizes } = maildrop;
    const sizeBytes = sizes.reduce((total, size) => total + size, 0);
    return { user: servePop3User(context, stream, maildrop), maildrop: { count: sizes.length, sizeBytes } };
  }

  return {
    connect(link, port) {
      ports.set(link, new StreamPort(port));
      port.on('close', () => ports.delete(link));
    },
    async admit({ account: settings, link, protocol, credential }) {
      const port = ports.get(link);
      if (!port) return undefined;
      const held = await accounts.hold(settings);
      const stream = ++last;
      const opened = await open(held, { stream: { port, number: stream }, protocol }).catch((error) => {
        held.release();
        throw error;
      });
      if (!opened) {
        held.release();
        return { refused: 'in-use' };
      }
      const { user, ...size } = opened;
      const endWatch = accounts.onEnding(settings.id, credential, (refusal) => user.end(refusal));
      void user.done.finally(() => {
        endWatch();
        held.release();
      });
      return { stream, ...size };
    },
  };
}
