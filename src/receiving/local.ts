/**
 * Receives mail that this installation sends to a domain that it receives for itself. It takes the path of other mail from
 * RCPT on, without a connection.
 */
import type { App } from '../app.ts';
import { findReceivedOfBytes } from '../inbound/store.ts';
import { type AuthenticationResult, undecided } from '../mail/auth/result.ts';
import { refusalReply } from '../mail/smtp/refusal.ts';
import type { Reply } from '../mail/smtp/server/session.ts';
import type { LocalAnswer, LocalOrigin, LocalReceiver } from '../queue/local-receiver.ts';
import { AppError } from '../system/errors.ts';
import type { Evaluation } from './envelope.ts';
import type { InboundApp } from './inbound-app.ts';
import { receiveMessage } from './receive.ts';
import { type AcceptedRecipient, decideRecipient } from './recipient.ts';

/** Returns the receiver of local mail. */
export function createLocalReceiver(app: InboundApp): LocalReceiver {
  return async ({ origin, sender, recipients, dsn, requireTls, utf8, sizeBytes, bytes }) => {
    const accepted: AcceptedRecipient[] = [];
    const refused = new Map<string, LocalAnswer>();
    for (const [index, address] of recipients.entries()) {
      const decision = await decideRecipient(app, address, { sender, sizeBytes });
      const parameters = dsn.recipients[index] ?? undefined;
      if (decision.kind === 'accepted') accepted.push({ ...decision.recipient, dsn: parameters });
      else refused.set(address, { phase: 'rcpt', ...decision.reply });
    }
    if (accepted.length === 0) return recipients.flatMap((address) => refused.get(address) ?? []);
    const envelope = {
      client: undefined,
      evaluation: await evaluationOf(app, origin),
      sender,
      utf8,
      requireTls,
      dsn: dsn.message ?? undefined,
      recipients: accepted,
      listings: [],
    };
    const answer = await receive(app, envelope, bytes());
    return recipients.map((address) => refused.get(address) ?? answer);
  };
}

/**
 * Returns what is known about the message. What was found out about forwarded mail when it arrived is still true: it has not left the
 * machine since.
 */
async function evaluationOf({ db }: Pick<App, 'db'>, origin: LocalOrigin): Promise<Evaluation> {
  switch (origin.kind) {
    case 'tenant':
      return { result: null, isSubmitted: true, isFlagged: false };
    case 'installation':
      return { result: null, isSubmitted: false, isFlagged: false };
    case 'forwarded': {
      const received = await findReceivedOfBytes(db.read, origin.blobId);
      const result = received ? resultOf(received.auth) : undecided('', 'the results are no longer stored');
      return { result, isSubmitted: false, isFlagged: received?.flagged === 1 };
    }
  }
}

function resultOf(auth: string | null): AuthenticationResult | null {
  return auth === null ? null : (JSON.parse(auth) as AuthenticationResult);
}

/** Returns the answer for the accepted recipients. An error that is no refusal is thrown again. */
async function receive(
  app: InboundApp,
  envelope: Parameters<typeof receiveMessage>[1],
  body: AsyncIterable<Uint8Array>,
): Promise<LocalAnswer> {
  try {
    return asAnswer(await receiveMessage(app, envelope, body));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { phase: 'dot', ...refusalReply(error) };
  }
}

function asAnswer({ code, status = '2.0.0', text }: Reply): LocalAnswer {
  return { phase: 'dot', code, status, text: [text].flat().join(' ') };
}
