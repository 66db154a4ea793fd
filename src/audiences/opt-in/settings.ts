/** The settings of double opt-in of an audience, and the checks of its sender. */
import type { App } from '../../app.ts';
import type { AudienceRow } from '../../db/marketing-tables.ts';
import { requireReach } from '../../domains/reach.ts';
import { getSendingDomain } from '../../domains/sender.ts';
import { explainRefusal, type Mailbox, parseMailbox } from '../../mail/address.ts';
import { invalid } from '../../system/errors.ts';
import { findTemplate } from '../../templates/store.ts';
import { placeholdersIn } from '../../templates/tags.ts';
import type { Caller } from '../../tenants/authenticate.ts';

/** Languages of the mail that is sent when no template is named. */
export const LANGUAGES = ['en', 'de', 'fr', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The settings, as a caller gives them and as they are stored. */
type OptInSettings = {
  from: string;
  replyTo?: string | null;
  subject?: string | null;
  templateId?: string | null;
  language?: Language;
};

/** Name of the placeholder that stands for the link in a template. */
export const CONFIRM_URL = 'confirm_url';

/** Returns the settings of an audience, or undefined when its contacts cannot be pending. */
export function optInOf({ optIn }: Pick<AudienceRow, 'optIn'>): OptInSettings | undefined {
  return optIn === null ? undefined : (JSON.parse(optIn) as OptInSettings);
}

/**
 * Returns the checked settings as they are stored; null turns double opt-in off.
 * @throws AppError validation_error naming the field, restricted_api_key, domain_not_verified
 */
export async function readOptIn(
  app: App,
  caller: Caller,
  given: OptInSettings | null,
): Promise<string | null> {
  if (given === null) return null;
  const { from, replyTo = null, subject = null, templateId = null, language = 'en' } = given;
  readMailbox('optIn.from', from);
  if (replyTo !== null) readMailbox('optIn.replyTo', replyTo);
  if (templateId !== null) await requireTemplate(app, caller, templateId);
  await requireConfirmationSender(app, caller, given);
  const settings: OptInSettings = { from, replyTo, subject, templateId, language };
  return JSON.stringify(settings);
}

function readMailbox(path: string, text: string): Mailbox {
  const mailbox = parseMailbox(text);
  if (mailbox) return mailbox;
  const rule = explainRefusal(text) ?? 'must be one address such as ada@example.com or Ada <ada@example.com>';
  throw invalid(path, `\`${path}\` ${rule}`);
}

async function requireTemplate({ db }: App, { tenantId }: Caller, id: string): Promise<void> {
  const template = await findTemplate(db.read, tenantId, id);
  if (!template) throw invalid('optIn.templateId', '`optIn.templateId` must name an existing template');
  if (!hasConfirmLink(template))
    throw invalid(
      'optIn.templateId',
      `\`optIn.templateId\` must name a template with {{{${CONFIRM_URL}}}} in its HTML, and in its text if it has one`,
    );
}

/** Returns true when every part of the template has the link. A reader sees only one of them. */
export function hasConfirmLink({ html, text }: { html: string; text: string | null }): boolean {
  return [html, ...(text === null ? [] : [text])].every((source) =>
    placeholdersIn([undefined, source]).some(({ name }) => name === CONFIRM_URL),
  );
}

/**
 * Checks that the caller may send from the sender of the confirmation mail.
 * @throws AppError restricted_api_key, domain_not_verified
 */
export async function requireConfirmationSender(
  app: App,
  { mode, ...reach }: Omit<Caller, 'keyId'>,
  { from }: Pick<OptInSettings, 'from'>,
): Promise<void> {
  const { domain } = readMailbox('optIn.from', from);
  await requireReach(app.db.read, reach, { domain, what: 'send from', param: 'optIn.from' });
  await getSendingDomain(app, { tenantId: reach.tenantId, mode, domain, simulatorOnly: false });
}
