/** Writes the mail about the recovery of a mailbox: links, and notices of what has happened. It contains nothing that a stranger has typed. */
import type { App } from '../../app.ts';
import { type Mailbox, parseMailbox } from '../../mail/address.ts';
import { writeMessageFields } from '../../mail/message/compose.ts';
import { textEntity, wholeBody } from '../../mail/message/entity.ts';
import { postmasterOf } from '../../mail/postmaster.ts';
import { buildOwnMail, type OwnMail } from '../../mailbox-delivery/forward/own-mail.ts';
import { newId } from '../../system/ids.ts';
import { originOf } from '../origin.ts';
import { LINK_MS } from './invite.ts';
import { hashToken, newToken } from './tokens.ts';

/** A mail in the language of whoever has asked for it. */
type Words = { subject: string; text: string };

/** Returns a new link to the page of links, with the mail that has it. */
export async function buildLinkMail(app: App, to: Mailbox, wordsOf: (url: string) => Words) {
  const token = newToken();
  const mail = await buildMail(app, to, wordsOf(`${originOf(app.config)}/mailbox/link/${token}`));
  return { linkHash: hashToken(token) ?? '', linkExpiresAt: app.clock.now() + LINK_MS, mail };
}

/** Returns a mail to the mailbox itself. */
export async function buildNotice(app: App, address: string, words: Words): Promise<OwnMail> {
  const to = parseMailbox(address);
  if (!to) throw new Error('the address of a mailbox is none');
  return buildMail(app, to, words);
}

async function buildMail(app: App, to: Mailbox, { subject, text }: Words): Promise<OwnMail> {
  const id = newId('em', app.clock.now());
  const hostname = app.config.hostname.toLowerCase();
  const fields = writeMessageFields({
    from: postmasterOf(hostname),
    to: [to],
    cc: [],
    replyTo: [],
    subject,
    // A program wrote it (RFC 3834 section 5).
    headers: [{ name: 'Auto-Submitted', value: 'auto-generated' }],
    messageId: `${id}@${hostname}`,
  });
  const body = textEntity('plain', text);
  const head = Buffer.from(`${fields}${body.fields}\r\n`);
  const bytes = Buffer.concat([head, ...wholeBody(body)]);
  return buildOwnMail(app, { id, bytes, headerBytes: head.length, to: [to.address] });
}
