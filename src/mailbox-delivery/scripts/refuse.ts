/**
 * Runs scripts that refuse mail before the answer to DATA, so that the client learns of the refusal and nobody has to write a report
 * (RFC 5429 section 2). When some recipients of the transaction take the message, it is accepted, and the delivery drops the copies of the
 * others.
 */

import type { ReceivedRecipientRow } from '../../db/inbound-tables.ts';
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import type { BlobRow } from '../../db/tables.ts';
import type { ReceivedRows } from '../../inbound/received-rows.ts';
import type { Reply } from '../../mail/smtp/server/session.ts';
import { findMailboxById } from '../../mailboxes/store.ts';
import type { Directory } from '../directory.ts';
import { decide } from './decide.ts';
import { type DecidingApp, readHeader, type ScriptedMessage } from './delivery.ts';
import { prefixOf } from './prefix.ts';

type RefusingApp = DecidingApp & {
  directory: Pick<Directory, 'scriptsOf'>;
};
type Content = ScriptedMessage['content'];
type Recipient = { row: ReceivedRecipientRow; message: ReceivedRows['message'] };

/**
 * Time after which no further script of a transaction is asked, in milliseconds: a client that waits long for the reply to its message
 * gives up, and sends again what was accepted.
 */
const MAX_ASKING_MS = 5_000;
/** Maximum number of lines of a reason in the reply, and of characters of each. */
const MAX_LINES = 5;
const MAX_CHARACTERS = 200;

/** Returns the refusal of a message that the scripts of all its recipients refuse; undefined when it is accepted. */
export async function refusalByScripts(
  app: RefusingApp,
  groups: readonly ReceivedRows[],
  blob: BlobRow,
): Promise<Reply | undefined> {
  const recipients = groups.flatMap(({ message, recipients: rows }) => rows.map((row) => ({ row, message })));
  if (recipients.some(({ row }) => row.kind !== 'mailbox')) return undefined;
  const content = app.blobs.openPrepared(blob);
  const endsAt = app.clock.elapsed() + MAX_ASKING_MS;
  let reason: string | undefined;
  for (const recipient of recipients) {
    if (app.clock.elapsed() >= endsAt) return undefined;
    // A mailbox that cannot be asked, since it is damaged or busy, must not refuse the mail of others. Its script decides at the delivery.
    reason = await reasonToRefuse(app, { ...recipient, endsAt }, content).catch(() => undefined);
    if (reason === undefined) return undefined;
  }
  // X.7.1 is a refusal by policy (RFC 3463 section 3.8).
  return reason === undefined ? undefined : { code: 550, status: '5.7.1', text: linesOf(reason) };
}

async function reasonToRefuse(
  app: RefusingApp,
  { row, message, endsAt }: Recipient & { endsAt: number },
  content: Content,
): Promise<string | undefined> {
  const mailboxId = row.targetId as MailboxRow['id'];
  const { scripts, mayRefuse } = await app.directory.scriptsOf(mailboxId);
  const mailbox = mayRefuse ? await findMailboxById(app.db.read, mailboxId) : undefined;
  if (!mailbox) return undefined;
  const decision = await decide(
    app,
    {
      header: await readHeader(content),
      mailbox,
      message,
      recipient: row.address,
      content,
      prefix: prefixOf(message, mailbox),
      deliveryId: undefined,
      endsAt,
    },
    scripts,
  );
  if (decision.kind === 'busy') return undefined;
  const rejection = decision.plan.outgoing.find((action) => action.kind === 'reject');
  return rejection?.kind === 'reject' ? rejection.reason : undefined;
}

/** Returns a reason as the lines of a reply, which are in ASCII. */
function linesOf(reason: string): string[] {
  const lines = reason
    .split(/\r?\n/)
    .map((line) =>
      line
        .replace(/[^ -~]+/g, '?')
        .trim()
        .slice(0, MAX_CHARACTERS),
    )
    .filter((line) => line !== '');
  return lines.length === 0 ? ['The recipient has refused the message'] : lines.slice(0, MAX_LINES);
}
