/** Tells the owner of a mailbox, by a message in INBOX, that a script has failed: nobody else sees that mail was not sorted. */
import type { DeliveryResult } from '../../accounts/delivery.ts';
import { parseMailbox } from '../../mail/address.ts';
import { writeMessageFields } from '../../mail/message/compose.ts';
import { textEntity, wholeBody } from '../../mail/message/entity.ts';
import { dateField } from '../../mail/message/headers.ts';
import { postmasterOf } from '../../mail/postmaster.ts';
import { memoryKey } from '../../mailboxes/scripts/memory-key.ts';
import { claim } from '../../mailboxes/scripts/memory-store.ts';
import type { ScriptFailure } from '../../mailboxes/scripts/script-job.ts';
import { DAY_MS } from '../../system/clock.ts';
import type { ScriptApp, ScriptedDelivery } from './delivery.ts';

/** Minimum time between two notes about the same failure of the same script. */
const QUIET_MS = DAY_MS;

/** Delivers a note about the failure, unless there was one within a day. */
export async function noteFailure(
  app: ScriptApp,
  delivery: ScriptedDelivery,
  failure: ScriptFailure,
): Promise<DeliveryResult> {
  const { mailbox, deliveryId } = delivery;
  const now = app.clock.now();
  const key = memoryKey('note', failure.script, failure.message);
  const memory = { mailboxId: mailbox.id, key, claimedBy: deliveryId, expiresAt: now + QUIET_MS, now };
  if (!(await app.db.commit(claim, memory))) return { kind: 'delivered' };
  const bytes = writeNote(app, delivery, failure);
  return await app.mailboxDelivery.deliver({
    mailboxId: mailbox.id,
    deliveryId: `${deliveryId}/note`,
    content: { sizeBytes: bytes.length, bytes, file: undefined },
    prefix: '',
    isJunk: false,
    receivedAt: now,
  });
}

function writeNote(
  { clock, config }: ScriptApp,
  { mailbox, message, deliveryId }: ScriptedDelivery,
  { script, line, message: problem }: ScriptFailure,
): Buffer {
  const hostname = config.hostname.toLowerCase();
  const to = parseMailbox(mailbox.address);
  const place = line > 0 ? `, line ${line}` : '';
  const text = [
    `Your Sieve script "${script}"${place} has failed: ${problem}.`,
    '',
    'The message below was stored in your inbox, and nothing else was done with it. So is other mail for which the script fails.',
    'You get this note at most once a day.',
    '',
    `From: ${message.headerFrom ?? message.sender}`,
    `Subject: ${message.subject ?? ''}`,
    '',
  ].join('\n');
  const body = textEntity('plain', text);
  const fields = writeMessageFields({
    from: postmasterOf(hostname),
    to: to ? [to] : [],
    cc: [],
    replyTo: [],
    subject: 'Your mail filter has failed',
    headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
    messageId: `${deliveryId.replace('/', '.')}.note@${hostname}`,
  });
  return Buffer.concat([
    Buffer.from(`${dateField(clock.now())}${fields}${body.fields}\r\n`),
    ...wholeBody(body),
  ]);
}
