/** Composes a broadcast for one contact, as it would leave, so that its size is known before anybody gets it. */
import type { App } from '../../app.ts';
import type { BroadcastRow, ContactRow, TopicRow } from '../../db/marketing-tables.ts';
import type { DomainRow, MessageRow } from '../../db/tables.ts';
import type { SigningKeys } from '../../domains/signing-key.ts';
import { broadcastFields } from '../../emails/marketing-fields.ts';
import { readMailbox } from '../../emails/request/addresses.ts';
import { asLine } from '../../emails/request/line.ts';
import type { Links } from '../../links/links.ts';
import { createBodyHash } from '../../mail/dkim/body-hash.ts';
import { signMessage } from '../../mail/dkim/sign.ts';
import { composeBody, writeMessageFields } from '../../mail/message/compose.ts';
import { dateField } from '../../mail/message/headers.ts';
import { fillTexts } from '../../queue/contents/content.ts';
import {
  complaintFields,
  fieldsFor,
  readerFor,
  textsFor,
  UNSUBSCRIBE_TAG,
  UNSUBSCRIBE_URL,
} from '../../queue/contents/reader.ts';
import { returnAddressKeyOf } from '../../queue/return-path.ts';
import { newId } from '../../system/ids.ts';
import { renderTemplate } from '../../templates/render.ts';
import { instrument, type Tracking } from '../../tracking/links/instrument.ts';
import { mergeValuesOf } from '../merge-values.ts';

export type SampleApp = App & {
  links: Links;
  signingKeys: SigningKeys;
};

/** HTML and text of a broadcast or of its template, with their placeholders. The text may be generated. */
export type Texts = { html: string; text: string | null };

type Sampled = {
  broadcast: BroadcastRow;
  /** Domain whose key signs the mail; null for the sandbox domain, which has no key. */
  domainId: DomainRow['id'] | null;
  /** Domain of the address for complaints; null when there is none. */
  complaintHost: MessageRow['complaintHost'];
  topic: TopicRow | undefined;
  texts: Texts;
  /** Positions of the tracked links and the pixel in the HTML; undefined when nothing is tracked. */
  tracking: Tracking | undefined;
  /** Contact that the message is for. Without one, the fallbacks of the placeholders apply. */
  contact: ContactRow | undefined;
};

/** Address of the message when no contact would get the broadcast. */
const NOBODY = 'reader@example.com';

export type Sample = {
  subject: string;
  /** Size of the whole message in bytes, with its signature. */
  sizeBytes: number;
  /** Size of the HTML that the contact gets, in bytes of UTF-8. */
  htmlBytes: number;
};

/**
 * Returns what a contact would get.
 * @throws AppError validation_error when the values of the contact make a text too long
 */
export async function composeSample(app: SampleApp, sampled: Sampled): Promise<Sample> {
  const { broadcast, contact, topic } = sampled;
  const { tenantId, topicId } = broadcast;
  const values = { ...(contact && mergeValuesOf(contact)), [UNSUBSCRIBE_URL]: UNSUBSCRIBE_TAG };
  const address = contact?.email ?? NOBODY;
  const now = app.clock.now();
  const id = newId('em', now);
  const returnAddressKey = returnAddressKeyOf(app);
  const mail = {
    id,
    kind: 'broadcast',
    tenantId,
    topicId,
    contactId: contact?.id ?? null,
    complaintHost: sampled.complaintHost,
  } as const;
  const recipient = { address, position: 0 };
  const reader = readerFor({ ...app, returnAddressKey }, mail, recipient);
  const { html: source, text: plain } = await withGenerated(app, tenantId, sampled.texts);
  const { tracking } = sampled;
  const tracked = tracking ? instrument(source, { tracking, tokens: app.links.trackingTokens(id) }) : source;
  const filled = fillTexts({ html: tracked, ...(plain !== undefined && { text: plain }) }, values);
  const { html, text } = textsFor(filled, reader);
  const subject = asLine(renderTemplate(broadcast.subject, values, { form: 'text', isMarketing: true }).text);
  const from = readMailbox('from', broadcast.fromHeader);
  const fields = writeMessageFields({
    from,
    to: [readMailbox('to', address)],
    cc: [],
    replyTo: broadcast.replyTo === null ? [] : [readMailbox('replyTo', broadcast.replyTo)],
    subject,
    headers: broadcastFields(app, { ...broadcast, topicName: topic?.name }),
    messageId: `${id}@${from.domain}`,
  });
  const body = composeBody({ html, text, boundarySeed: id }, []);
  const readerFields = fieldsFor(reader) + complaintFields(returnAddressKey, mail, [recipient]);
  const head = `${dateField(now)}${fields}${readerFields}${body.fields}\r\n`;
  const sizeBytes = await measure(app, sampled, { head: Buffer.from(head), body: body.pieces });
  return { subject, sizeBytes, htmlBytes: Buffer.byteLength(html ?? '') };
}

/** Returns the texts with one that is generated from the HTML when there is none, as sending does. */
export async function withGenerated(
  { htmlText }: Pick<App, 'htmlText'>,
  owner: string,
  { html, text }: Texts,
): Promise<{ html: string; text?: string }> {
  const plain = text ?? (await htmlText.convert(html, owner)).text;
  return { html, ...(plain !== '' && { text: plain }) };
}

type Composed = { head: Buffer; body: Iterable<Buffer> };

/** Signs a message and returns its whole size in bytes. */
async function measure(
  { clock, signingKeys }: SampleApp,
  { domainId }: Sampled,
  { head, body }: Composed,
): Promise<number> {
  const hash = createBodyHash();
  let bodyBytes = 0;
  for (const piece of body) {
    hash.update(piece);
    bodyBytes += piece.length;
  }
  const keys = domainId === null ? [] : await signingKeys.find(domainId);
  const message = { header: head, bodyHash: hash.digest() };
  const signature = await signMessage(message, keys, Math.floor(clock.now() / 1000));
  return signature.length + head.length + bodyBytes;
}
