/**
 * The session of port 25: it takes mail from anybody for the recipients of this installation, and relays nothing. The
 * protocol is in mail/smtp/server.
 */
import { logRefused } from '../events/mail-log.ts';
import type { Reply, Sender, Session, SmtpClient } from '../mail/smtp/server/session.ts';
import { AppError } from '../system/errors.ts';
import { requireCapacity } from '../system/guards/overload.ts';
import type { InboundApp } from './inbound-app.ts';
import { receiveMessage } from './receive.ts';
import { type AcceptedRecipient, decideRecipient } from './recipient.ts';
import { createSenderChecks } from './sender-checks.ts';

/** The client sends the message to its other recipients in another transaction (RFC 5321 section 4.5.3.1.10). */
const ONE_RECIPIENT: Reply = {
  code: 452,
  status: '4.5.3',
  text: 'A message without a sender has one recipient',
};

/** Returns a session, which serves one connection. */
export function createInboundSession(app: InboundApp): Session {
  let sender: Sender | undefined;
  let recipients: AcceptedRecipient[] = [];
  const checks = createSenderChecks(app);

  async function refusalOf(to: string, client: SmtpClient): Promise<Reply | undefined> {
    const { address: from = '', sizeBytes } = sender ?? {};
    const decision = await decideRecipient(app, to, { sender: from, sizeBytes });
    if (decision.kind === 'refused') return decision.reply;
    const { recipient } = decision;
    const refusal = await checks.refusalOf({ client, sender: from, recipient });
    if (!refusal) recipients.push(recipient);
    return refusal;
  }

  return {
    connect: async () => undefined,
    ehlo: async () => undefined,
    async mail(given, client) {
      requireCapacity(app);
      requireRate(app, client);
      sender = given;
      return undefined;
    },
    async rcpt(recipient, client) {
      // Nothing but bounces has no sender (RFC 5321 section 4.5.5), and each is about one message of one sender.
      if (sender?.address === '' && recipients.length > 0) return ONE_RECIPIENT;
      const { address: to } = recipient;
      const reply = await refusalOf(to, client);
      // Clients that guess addresses must not fill the disk with lines.
      if (reply && app.refusalLog.take(client.address).allowed)
        logRefused(app, client, { from: sender?.address ?? '', to: [to], reply });
      return reply;
    },
    async data(body, client) {
      const { address = '', utf8 = false, requireTls = false } = sender ?? {};
      const listings = checks.listings();
      const reply =
        app.senderRates.refuseKnown({ address: client.address, sender: address }) ??
        (await receiveMessage(
          app,
          { client, sender: address, utf8, requireTls, recipients, listings },
          body,
        ));
      app.inboundMetrics.answered(reply.code);
      if (reply.code >= 400) {
        const to = recipients.map((recipient) => recipient.address);
        logRefused(app, client, { from: address, to, reply });
      }
      return reply;
    },
    reset() {
      sender = undefined;
      recipients = [];
      checks.reset();
    },
    close() {},
  };
}

/**
 * Counts a message of the client.
 * @throws AppError rate_limited
 */
function requireRate({ guards, isTrustedRelay }: InboundApp, { address }: SmtpClient): void {
  if (isTrustedRelay(address) || guards.smtpClients.take(address).allowed) return;
  throw new AppError('rate_limited', 'Your address sends too many messages; try again later');
}
