/** Verifies all signatures of a message, in the way of the authenticator. */
import { MessageReader } from '../../../../src/mail/auth/authenticator.ts';
import { groupFields, splitFields } from '../../../../src/mail/dkim/verify/header-fields.ts';
import { createKeyParser } from '../../../../src/mail/dkim/verify/keys.ts';
import { verifySignature } from '../../../../src/mail/dkim/verify/verify.ts';
import { LineEnds } from '../../../../src/mail/message/crlf.ts';
import type { Clock } from '../../../../src/system/clock.ts';
import type { DnsLookups } from '../../../../src/system/dns.ts';

type Options = { dns: DnsLookups; clock: Pick<Clock, 'now'> };

/** Returns the outcome of each DKIM-Signature field, from top to bottom. */
export function verifyTestMessage(message: string, { dns, clock }: Options) {
  const reader = new MessageReader(() => true);
  reader.write(new LineEnds().next(Buffer.from(message, 'latin1')));
  const { header, bodyHashes } = reader.finish();
  const fields = splitFields(header?.toString('latin1') ?? '');
  const signed = {
    fields: groupFields(fields),
    bodyHashes,
    dns,
    parseKey: createKeyParser(),
    now: clock.now(),
  };
  return Promise.all(
    fields.filter(({ name }) => name === 'dkim-signature').map((field) => verifySignature(field, signed)),
  );
}
