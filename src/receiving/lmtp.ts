/**
 * LMTP (RFC 2033) takes mail from another mail server of this machine, for mailboxes alone. That server has decided
 * whom it takes mail from, so the mail is neither authenticated nor evaluated again. It is stored like mail from port 25, and the 250 of each
 * recipient comes once it is on disk. The protocol is in mail/smtp/server.
 */

import { logRefused } from '../events/mail-log.ts';
import { listenSmtp } from '../mail/smtp/server/server.ts';
import type { Sender, Session } from '../mail/smtp/server/session.ts';
import { requireCapacity } from '../system/guards/overload.ts';
import type { Listener } from '../system/listen.ts';
import type { Evaluation } from './envelope.ts';
import type { InboundApp } from './inbound-app.ts';
import { receiveMessage } from './receive.ts';
import { type AcceptedRecipient, decideMailbox } from './recipient.ts';

const NOT_EVALUATED: Evaluation = { result: null, isSubmitted: false, isFlagged: false };

/** Returns a session, which serves one connection. */
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
