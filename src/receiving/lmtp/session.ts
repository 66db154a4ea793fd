/**
 * The session of LMTP (RFC 2033): it takes mail from another mail server of this machine, for mailboxes alone. That server has decided
 * whom it takes mail from, so the mail is neither authenticated nor judged again. It is stored like mail from port 25, and the 250 of each
 * recipient comes once it is on disk. The protocol is in mail/smtp/server.
 */
import type { App } from '../../app.ts';
import type { Sender, Session } from '../../mail/smtp/server/session.ts';
import type { Judgement } from '../envelope.ts';
import { type ReceiveApp, receiveMessage } from '../receive.ts';
import { type AcceptedRecipient, decideMailbox, type RecipientApp } from '../recipient.ts';
import { logRefusal, requireCapacity } from '../session.ts';

export type LmtpApp = ReceiveApp & RecipientApp & Pick<App, 'metrics'>;

const NOT_JUDGED: Judgement = { result: null, isSubmitted: false, isFlagged: false };

/** Returns a session, which serves one connection. */
export function createLmtpSession(app: LmtpApp): Session {
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
      logRefusal(app, client, { from, to: [to], reply });
      return reply;
    },
    async data(body, client) {
      const { address: from = '', utf8 = false, requireTls = false } = sender ?? {};
      const envelope = { client, judgement: NOT_JUDGED, sender: from, utf8, requireTls, recipients };
      // The copies of all recipients are stored in one write, so all of them have the same reply.
      const reply = await receiveMessage(app, { ...envelope, listings: [] }, body);
      app.inboundMetrics.judged(reply.code);
      if (reply.code >= 400)
        logRefusal(app, client, { from, to: recipients.map(({ address }) => address), reply });
      return reply;
    },
    reset() {
      sender = undefined;
      recipients = [];
    },
    close() {},
  };
}
