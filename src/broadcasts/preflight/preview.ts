/** Shows a broadcast as one contact would read it, before it is sent. It changes nothing, and no link in it belongs to a person. */
import type { App } from '../../app.ts';
import { findContact, findNewestContact } from '../../audiences/contacts/store.ts';
import type { BroadcastRow, ContactRow } from '../../db/marketing-tables.ts';
import { asLine } from '../../emails/request/line.ts';
import { fillTexts } from '../../queue/contents/content.ts';
import { textsFor } from '../../queue/contents/reader.ts';
import { AppError, invalid } from '../../system/errors.ts';
import { renderTemplate } from '../../templates/render.ts';
import { findTemplate } from '../../templates/store.ts';
import type { Caller } from '../../tenants/authenticate.ts';
import { mergeValuesOf } from '../merge-values.ts';
import { getBroadcast } from '../store.ts';
import { type Texts, withGenerated } from './sample.ts';

export type BroadcastPreview = {
  contact: ContactRow | undefined;
  subject: string;
  html: string;
  text: string;
};

type Asked = {
  id: string;
  /** Id or address of a contact; undefined for the newest one. */
  contact: string | undefined;
  /** Reserves memory for the texts, whose characters it is given. */
  holdText: (characters: number) => unknown;
};

/** Address of the link to unsubscribe in a preview: it leads nowhere. */
const NO_UNSUBSCRIBING = '#unsubscribe';

/**
 * Returns what a contact would read.
 * @throws AppError not_found, invalid_state, validation_error
 */
export async function previewBroadcast(
  app: Pick<App, 'db' | 'htmlText'>,
  caller: Caller,
  { id, contact: wanted, holdText }: Asked,
): Promise<BroadcastPreview> {
  const broadcast = await getBroadcast(app.db.read, caller, id);
  if (broadcast.status !== 'draft' && broadcast.status !== 'scheduled')
    throw new AppError('invalid_state', `A broadcast that is ${broadcast.status} has been started or ended`);
  const texts = await findTexts(app, broadcast);
  holdText(texts.html.length + (texts.text?.length ?? 0));
  const contact = await findReader(app, broadcast, wanted);
  const values = contact ? mergeValuesOf(contact) : {};
  const filled = fillTexts(await withGenerated(app, broadcast.tenantId, texts), values);
  const { html = '', text = '' } = textsFor(filled, { unsubscribeUrl: NO_UNSUBSCRIBING });
  const subject = asLine(renderTemplate(broadcast.subject, values, { form: 'text', isMarketing: true }).text);
  return { contact, subject, html, text };
}

/** Returns the texts that would be sent: the broadcast's own, or those of its template. */
export async function findTexts(
  { db }: Pick<App, 'db'>,
  { tenantId, templateId, html, text }: BroadcastRow,
): Promise<Texts> {
  const template = templateId === null ? undefined : await findTemplate(db.read, tenantId, templateId);
  return { html: html ?? template?.html ?? '', text: text ?? template?.text ?? null };
}

/**
 * Returns the contact that the preview is for. An audience without contacts has none.
 * @throws AppError validation_error when the audience does not have the contact that is named
 */
async function findReader(
  { db }: Pick<App, 'db'>,
  { tenantId, audienceId }: BroadcastRow,
  wanted: string | undefined,
): Promise<ContactRow | undefined> {
  const idOrAddress = wanted ?? (await findNewestContact(db.read, audienceId));
  if (idOrAddress === undefined) return undefined;
  const contact = await findContact(db.read, tenantId, { audienceId, idOrAddress });
  if (!contact && wanted !== undefined)
    throw invalid('contact', '`contact` must be the id or the address of a contact of the audience');
  return contact;
}
