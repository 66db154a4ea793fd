/** Listens for mail that another mail server of this machine hands over for mailboxes (lmtp.address and lmtp.port). */
import { listenSmtp } from '../../mail/smtp/server/server.ts';
import type { Listener } from '../../system/listen.ts';
import { createLmtpSession, type LmtpApp } from './session.ts';

/** Maximum number of open connections. Postfix has 20 at a time for one destination. Our own limit. */
const MAX_CONNECTIONS = 200;

/**
 * Starts to listen, and returns the listener; undefined while LMTP is off. The settings allow addresses of this machine alone.
 * @throws ListenError
 */
export async function openLmtp(app: LmtpApp): Promise<Listener | undefined> {
  const { hostname, lmtp } = app.config;
  if (lmtp.address === '') return undefined;
  const listener = await listenSmtp(app, {
    section: 'lmtp',
    at: lmtp,
    hostname,
    protocol: 'lmtp',
    tls: undefined,
    limits: { connections: MAX_CONNECTIONS },
    // All mail comes from one client, which has the limits of a mail server already.
    isExempt: () => true,
    openSession: () => createLmtpSession(app),
  });
  app.log.info({ address: listener.address }, 'serving LMTP');
  return listener;
}
