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
import { beginMailSession, type MailSession, programOf } from './mail-session.ts';
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
  /** IP address of the client. */
  address: string;
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
    { stream, session }: { stream: UserStream; session: MailSession },
  ): Promise<{ user: User; maildrop?: MaildropSize } | undefined> {
    const context = { clock: app.clock, log: app.log, owner: account.id, pause };
    if (session.protocol === 'imap') {
      const noteId = (fields: Readonly<Record<string, string>>): void => {
        session.client = programOf(fields);
      };
      return { user: serveImapUser({ ...context, noteId }, stream, openImapAccount(account, settings)) };
    }
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
    async admit({ account: settings, link, protocol, credential, address }) {
      const port = ports.get(link);
      if (!port) return undefined;
      const held = await accounts.hold(settings);
      const stream = ++last;
      const session = beginMailSession({ protocol, address, credential: credential.id }, app.clock.now());
      const opened = await open(held, { stream: { port, number: stream }, session }).catch((error) => {
        held.release();
        throw error;
      });
      if (!opened) {
        held.release();
        return { refused: 'in-use' };
      }
      const { user, ...size } = opened;
      const watched = { session, expiresAt: credential.expiresAt };
      const endWatch = accounts.onEnding(settings.id, watched, (refusal) => user.end(refusal));
      void user.done.finally(() => {
        endWatch();
        held.release();
      });
      return { stream, ...size };
    },
  };
}
