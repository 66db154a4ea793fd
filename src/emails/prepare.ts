/**
 * Prepares an email before the transaction that accepts it. The steps in order: check the sender, find the topic, render the
 * content, check the policy of a large email, choose the links to track, load the attachments, store the message durably, and
 * build the rows.
 */
import type { App } from '../app.ts';
import type { TopicRow } from '../db/marketing-tables.ts';
import type { FindDomain } from '../domains/named-domains.ts';
import { isSimulatorDomain } from '../domains/sender.ts';
import type { Links } from '../links/links.ts';
import type { Pack } from '../queue/contents/source.ts';
import { invalid } from '../system/errors.ts';
import { isId, newId } from '../system/ids.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { findTopic } from '../topics/store.ts';
import { trackHtml, UNTRACKED } from '../tracking/links/track.ts';
import { type EmailRows, requirePolicy } from './accept.ts';
import { buildRows, type EmailSender, policyOf } from './build-rows.ts';
import type { Allowance, Downloads } from './download.ts';
import { loadAttachments } from './load-attachments.ts';
import { marketingFields, READER_VARIABLES, requireMarketingSize } from './marketing-fields.ts';
import { storeMessage } from './message.ts';
import { type Content, type HoldText, renderContent } from './render.ts';
import { envelopeRecipients } from './request/addresses.ts';
import { inviteFile } from './request/calendar.ts';
import type { HeaderField } from './request/headers.ts';
import type { EmailRequest } from './request.ts';
import { requireSender } from './sender.ts';

export type PrepareApp = App & {
  downloads: Downloads;
  findDomain?: FindDomain;
  links: Links;
};

/** Limits of the request that this email is part of. */
export type Share = {
  holdText: HoldText;
  files?: Allowance;
  /** Packs the texts of the emails that one write stores. */
  pack: Pack;
};

/**
 * Prepares an email and stores its content. A caller that does not commit the rows discards the content.
 *
 * @throws AppError validation_error, restricted_api_key, domain_not_verified, suppressed_recipient, quota_exceeded,
 * unavailable
 */
export async function prepareEmail(
  app: PrepareApp,
  caller: EmailSender,
  { request, holdText, files: allowance, pack }: Share & { request: EmailRequest },
): Promise<EmailRows> {
  const { addresses, headers } = request;
  const recipients = envelopeRecipients(addresses);
  const simulatorOnly = recipients.every(({ domain }) => isSimulatorDomain(app.config, domain));
  const sender = await requireSender(app, caller, { domain: addresses.from.domain, simulatorOnly });
  const topic = await requireTopic(app, caller.tenantId, request.topicId);

  const isMarketing = request.type === 'broadcast';
  const readerVariables = isMarketing ? READER_VARIABLES : undefined;
  const content = await renderContent(app, caller.tenantId, {
    request: request.content,
    holdText,
    readerVariables,
  });
  if (isMarketing) requireMarketingSize(content);
  const policy = policyOf(app.config, caller, { type: request.type, topic, recipients, simulatorOnly });
  if (mayBeLarge(request, content))
    await requirePolicy(app.db.read, caller.tenantId, { ...policy, now: app.clock.now() });
  const settings = request.isUntracked ? null : sender.tracking;
  // An email whose links cannot be found is sent without tracking.
  const { tracking, targets } =
    (await trackHtml(app, caller.tenantId, { html: content.html, settings, isTemplate: false })) ?? UNTRACKED;
  using loaded = await loadAttachments(app, caller.tenantId, { requests: request.attachments, allowance });
  const { calendar } = request;
  const attachments = [...loaded.attachments, ...(calendar ? [inviteFile(calendar)] : [])];
  // The time is read after the downloads, because the scan for due mail overlaps only by a short time.
  const now = app.clock.now();
  const id = newId('em', now);
  const messageId = `${id}@${addresses.from.domain}`;
  const stored = await storeMessage(app, {
    ...addresses,
    ...content,
    headers: isMarketing ? [...headers, ...listFieldsOf(app, request, topic)] : headers,
    isForReaders: isMarketing,
    tracked: tracking && { tracking, tokens: app.links.trackingTokens(id) },
    calendar,
    attachments,
    messageId,
    boundarySeed: id,
    pack,
  });
  return buildRows(app.config, caller, {
    id,
    messageId,
    now,
    request,
    policy,
    domainId: sender.domainId,
    complaintHost: sender.returnPathHost,
    targets,
    content,
    attachments,
    stored,
  });
}

/** Returns the header fields of marketing mail. Requests of callers always name a topic. */
function listFieldsOf(
  app: Pick<App, 'config' | 'db'>,
  { listFields }: EmailRequest,
  topic: TopicRow | undefined,
): readonly HeaderField[] {
  return listFields ?? (topic ? marketingFields(app, topic) : []);
}

/**
 * Number of characters of text and HTML from which an email counts as large: packing its texts then takes longer than
 * the check of its policy.
 */
const LARGE_CHARACTERS = 64 * 1024;

function mayBeLarge(
  { attachments, calendar }: EmailRequest,
  { html = '', text = '', amp = '' }: Content,
): boolean {
  return (
    attachments.length > 0 ||
    calendar !== undefined ||
    html.length + text.length + amp.length > LARGE_CHARACTERS
  );
}

/**
 * Returns the topic that the request names.
 * @throws AppError validation_error when the tenant has no such topic
 */
async function requireTopic(
  app: Pick<App, 'db'>,
  tenantId: Caller['tenantId'],
  topicId: string | undefined,
): Promise<TopicRow | undefined> {
  if (topicId === undefined) return undefined;
  const topic = isId('top', topicId) ? await findTopic(app.db.read, tenantId, topicId) : undefined;
  if (!topic) throw invalid('topicId', '`topicId` must name an existing topic');
  return topic;
}
