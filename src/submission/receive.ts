/** Receives a message of a user, from its first byte to its row on disk, and returns the reply. */
import { formatDate } from '../mail/message/headers.ts';
import { RefusedMessage } from '../mail/smtp/refused-message.ts';
import type { Reply, Sender, SmtpClient } from '../mail/smtp/server/session.ts';
import { addressSite } from '../system/address-block.ts';
import { newId } from '../system/ids.ts';
import { findText, formatHeader, type SubmittedHeader } from './header.ts';
import { readMessage } from './message.ts';
import type { SenderApp } from './submission-app.ts';
import type { Submission, SubmittedRecipient, User } from './user.ts';

type Envelope = {
  user: User;
  client: Writer;
  envelope: Sender;
  /** Recipients that were accepted, of which there is at least one. */
  recipients: readonly SubmittedRecipient[];
  once?: Submission['once'];
};

/** The program from which a message comes. */
type Writer = Pick<SmtpClient, 'address' | 'tls'> & { protocol: SmtpClient['protocol'] | 'HTTP' };

/**
 * Receives a message and returns the reply. A reply that accepts means that the message is on disk.
 * @throws AppError; any error of `body`
 */
export async function receiveSubmission(
  app: SenderApp,
  { user, client, envelope, recipients, once }: Envelope,
  body: AsyncIterable<Uint8Array>,
): Promise<Reply> {
  const memory = app.guards.memory.smtp.open(addressSite(client.address));
  try {
    const id = newId('em', app.clock.now());
    const message = await readMessage(app, body, {
      memory,
      prepareHeader: (header) => prepareHeader(app, header, { user, client, id, keepsUtf8: envelope.utf8 }),
      keepsUtf8: envelope.utf8,
    });
    const accepted = await user.accept({ ...message, id, envelope, recipients, once });
    return { code: 250, status: '2.0.0', text: `Ok: queued as ${accepted}` };
  } catch (error) {
    if (error instanceof RefusedMessage) return error.reply;
    throw error;
  } finally {
    memory.release();
  }
}

type Preparing = { user: User; client: Writer; id: string; keepsUtf8: boolean };

/**
 * Checks who the message says that it is from, and adds and repairs what it lacks (RFC 6409 section 8). A missing Date is added when the
 * message is sent.
 * @throws RefusedMessage; AppError
 */
async function prepareHeader(
  app: SenderApp,
  header: SubmittedHeader,
  { user, client, id, keepsUtf8 }: Preparing,
): Promise<Buffer> {
  for (const sender of header.senders) {
    const refusal = await user.refuseSender(sender);
    if (refusal) throw new RefusedMessage(refusal);
  }
  const hasId = findText(header, 'message-id') !== undefined;
  return formatHeader(header, {
    above: formatReceived(app, client, id),
    below: hasId ? '' : `Message-ID: <${id}@${header.from.domain}>\r\n`,
    keepsUtf8,
  });
}

/** Formats our own Received field. Nobody but the operator learns from which address a person writes. */
function formatReceived({ config, clock }: SenderApp, { protocol, tls }: Writer, id: string): string {
  const security = tls ? ` (${tls.version} ${tls.cipher})` : '';
  const hop = `by ${config.hostname} with ${protocol}${security}\r\n\tid ${id}`;
  return `Received: ${hop};\r\n\t${formatDate(clock.now())}\r\n`;
}
