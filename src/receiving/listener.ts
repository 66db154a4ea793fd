/** Listens for mail from other servers (smtp.address and smtp.port), and from one of this machine for mailboxes (LMTP). */
import type { Certificates } from '../certificates/certificates.ts';
import { logRefused } from '../events/mail-log.ts';
import { watchTasks } from '../inbound/metrics.ts';
import { listenSmtp } from '../mail/smtp/server/server.ts';
import type { Sender, Session } from '../mail/smtp/server/session.ts';
import { plainAddress } from '../system/address-block.ts';
import { requireCapacity } from '../system/guards/overload.ts';
import { type Listener, listenAt } from '../system/listen.ts';
import { maxFilesOf } from '../system/open-files.ts';
import type { Evaluation } from './envelope.ts';
import type { InboundApp } from './inbound-app.ts';
import { receiveMessage } from './receive.ts';
import { type AcceptedRecipient, decideMailbox } from './recipient.ts';
import { createInboundSession } from './session.ts';

const NOT_EVALUATED: Evaluation = { result: null, isSubmitted: false, isFlagged: false };

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
      offersNotifications: true,
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

/**
 * Returns a session, which serves one connection. LMTP (RFC 2033) takes mail from another mail server of this
 * machine, for mailboxes alone. That server has decided whom it takes mail from, so the mail is neither authenticated
 * nor evaluated again. It is stored like mail from port 25, and the 250 of each recipient comes once it is on disk.
 * DSN is not offered, so that the other server, which knows the sender, reports. The protocol is in mail/smtp/server.
 */
function createLmtpSession(app: InboundApp): Session {
  let sender: Sender | undefined;
  let recipients: AcceptedRecipient[] = [];
  return {
    connect: async () => undefined,
    ehlo: async () => undefined,
    async mail(given) {
      requireCapacity(app);
      sender = given;
      return undefined;
    },
    async rcpt({ address: to }, client) {
      const { address: from = '', sizeBytes } = sender ?? {};
      const decision = await decideMailbox(app, to, { sender: from, sizeBytes });
      if (decision.kind === 'accepted') {
        recipients.push(decision.recipient);
        return undefined;
      }
      const { reply } = decision;
      logRefused(app, client, { from, to: [to], reply });
      return reply;
    },
    async data(body, client) {
      const { address: from = '', utf8 = false, requireTls = false } = sender ?? {};
      const envelope = { client, evaluation: NOT_EVALUATED, sender: from, utf8, requireTls, recipients };
      // The copies of all recipients are stored in one write, so all of them have the same reply.
      const reply = await receiveMessage(app, { ...envelope, listings: [] }, body);
      app.inboundMetrics.answered(reply.code);
      if (reply.code >= 400)
        logRefused(app, client, { from, to: recipients.map(({ address }) => address), reply });
      return reply;
    },
    reset() {
      sender = undefined;
      recipients = [];
    },
    close() {},
  };
}

/** Maximum number of open connections. Postfix has 20 at a time for one destination. */
const MAX_CONNECTIONS = 200;

/**
 * Starts to listen, and returns the listener; undefined while LMTP is off. The settings allow addresses of this machine alone.
 * @throws ListenError
 */
export async function openLmtp(app: InboundApp): Promise<Listener | undefined> {
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
