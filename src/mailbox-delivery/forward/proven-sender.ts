/**
 * Decides who is told when a forwarded message cannot be delivered. Anybody can write any sender into MAIL FROM, and would otherwise
 * have this installation send mail to strangers (backscatter), so only a sender that was proven when the message came is told.
 */

import { hkdfSync } from 'node:crypto';
import type { App } from '../../app.ts';
import type { ReceivedMessageRow } from '../../db/inbound-tables.ts';
import { bounceDomain } from '../../domains/records.ts';
import { type Mailbox, parseMailbox } from '../../mail/address.ts';
import type { AuthenticationResult } from '../../mail/auth/result.ts';
import { fieldValue, type HeaderField } from '../../mail/dkim/verify/header-fields.ts';
import { registrableDomain } from '../../mail/domain-names.ts';
import { createSenderRewriting, type SenderRewriting } from '../../mail/srs.ts';

const KEY_BYTES = 32;

const rewritings = new WeakMap<App['sealer'], SenderRewriting>();

type Received = Pick<ReceivedMessageRow, 'sender' | 'remoteAddress' | 'auth'>;

type Header = {
  fields: readonly HeaderField[];
  /** True when the sender says by NOTIFY what it wants to be told (RFC 3461 section 4.1). */
  hasAsked: boolean;
};

/**
 * Returns the address of the sender; undefined when nobody is told: the sender is null, is not proven, or has an address that mail
 * cannot be sent to, or a program sent the message by itself, and has not asked to be told.
 */
export async function provenSenderOf(
  app: App,
  received: Received,
  { fields, hasAsked }: Header,
): Promise<string | undefined> {
  if (!hasAsked && fields.some(isAutoSubmitted)) return undefined;
  const sender = parseMailbox(originalSender(app, received));
  return sender && (await isProven(received, sender)) ? sender.address : undefined;
}

/** Every value but `no` means that a program sent the message, whatever parameters follow it (RFC 3834 section 5). */
function isAutoSubmitted(field: HeaderField): boolean {
  return field.name === 'auto-submitted' && !/^\s*no\b(?!-)/i.test(fieldValue(field));
}

/** Returns the sender before this installation rewrote it. The results of a message that was forwarded here twice are about that one. */
function originalSender(app: App, { sender, remoteAddress }: Received): string {
  const at = sender.lastIndexOf('@');
  const isOurs = remoteAddress === '' && sender.slice(at + 1).toLowerCase() === bounceDomain(app.config);
  const original = isOurs ? senderRewritingOf(app).reverse(sender.slice(0, at), app.clock.now()) : undefined;
  return original ?? sender;
}

/**
 * Returns true when SPF or DMARC has failed for a message, and nothing proves its sender: an answer to it would probably reach somebody
 * who has not written.
 */
export async function isProbablyForged(received: Received): Promise<boolean> {
  const sender = parseMailbox(received.sender);
  if (received.auth === null || !sender || (await isProven(received, sender))) return false;
  const { spf, dmarc } = JSON.parse(received.auth) as AuthenticationResult;
  return spf.result === 'fail' || spf.result === 'softfail' || dmarc.result === 'fail';
}

/**
 * Returns true when SPF passed for the sender's domain, or DMARC for a domain of the same owner. Mail without results and without a
 * client was written on this machine, with a return path of ours. Mail that another server has handed over has no results either.
 */
async function isProven({ auth, remoteAddress }: Received, { domain }: Mailbox): Promise<boolean> {
  if (auth === null) return remoteAddress === '';
  const { spf, dmarc } = JSON.parse(auth) as AuthenticationResult;
  if (spf.result === 'pass' && spf.domain === domain) return true;
  return (
    dmarc.result === 'pass' && (await registrableDomain(dmarc.domain)) === (await registrableDomain(domain))
  );
}

/** Returns the rewriting of an installation. Its key is derived from the master key, so that a backup keeps addresses valid. */
export function senderRewritingOf({ sealer }: Pick<App, 'sealer'>): SenderRewriting {
  const known = rewritings.get(sealer);
  if (known) return known;
  const key = Buffer.from(
    hkdfSync('sha256', sealer.key.export(), '', 'inbound: rewritten senders', KEY_BYTES),
  );
  const rewriting = createSenderRewriting(key);
  rewritings.set(sealer, rewriting);
  return rewriting;
}
