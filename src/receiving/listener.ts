/** Listens for mail from other servers (smtp.address and smtp.port), and from one of this machine for mailboxes (lmtp.ts). */
import type { Certificates } from '../certificates/certificates.ts';
import { watchTasks } from '../inbound/metrics.ts';
import { listenSmtp } from '../mail/smtp/server/server.ts';
import { plainAddress } from '../system/address-block.ts';
import { type Listener, listenAt } from '../system/listen.ts';
import { maxFilesOf } from '../system/open-files.ts';
import type { InboundApp } from './inbound-app.ts';
import { openLmtp } from './lmtp.ts';
import { createInboundSession } from './session.ts';

/** Time in which messages that are being received are completed when the daemon stops, in milliseconds. */
const DRAIN_MS = 25_000;

/**
 * Starts to listen for mail. Closing the listener ends LMTP and the threads of the app too.
 * @throws ListenError
 */
export async function openInbound(
  app: InboundApp,
  certificates: Pick<Certificates, 'store'>,
): Promise<Listener> {
  const { trustedProxies, address } = app.config.smtp;
  // Clients beyond it are answered 421.
  const connections = Math.min(app.config.smtp.connections, maxFilesOf('smtp', app.maxOpenFiles));
  const proxies = new Set(trustedProxies.map(plainAddress));
  watchTasks(app);
  const listenOn = (host: string) =>
    listenSmtp(app, {
      section: 'smtp',
      at: { address: host, port: app.config.smtp.port },
      hostname: app.config.hostname,
      protocol: 'smtp',
      tls: { mode: 'starttls', certificates: certificates.store },
      limits: { connections },
      isProxy: (peer) => proxies.has(peer),
      isExempt: app.isTrustedRelay,
      openSession: () => createInboundSession(app),
    });
  await using opened = new AsyncDisposableStack();
  const listener = opened.adopt(await listenAt(address, listenOn), (open) => open.close(0));
  const lmtp = await openLmtp(app);
  opened.move();
  return {
    address: listener.address,
    async close() {
      await Promise.all([listener.close(DRAIN_MS), lmtp?.close(DRAIN_MS)]);
      await Promise.all([app.authenticator.close(), app.reportReader.close()]);
    },
  };
}
