/**
 * All of an email that is done before the transaction which accepts it. Its steps in order: may this key send from there,
 * does the topic exist, render, ask of a large email whether it would be refused anyway, gather the attachments, write
 * the message and make its bytes durable, make the rows.
 */
import type { App } from '../app.ts';
import { INLINE_BYTES } from '../blobs/blobs.ts';
import type { TopicRow } from '../db/marketing-tables.ts';
import { isSimulatorDomain } from '../domains/sender.ts';
import { invalid } from '../system/errors.ts';
import { isId, newId } from '../system/ids.ts';
import type { Caller } from '../tenants/authenticate.ts';
import { findTopic } from '../topics/store.ts';
import { type EmailRows, requirePolicy } from './accept.ts';
import { buildRows, policyOf } from './build-rows.ts';
import type { Allowance, Downloads } from './download.ts';
import { loadAttachments } from './load-attachments.ts';
import { storeMessage } from './message.ts';
import { type Content, type HoldText, renderContent } from './render.ts';
import { envelopeRecipients } from './request/addresses.ts';
import type { EmailRequest } from './request.ts';
import { requireSender } from './sender.ts';

export type PrepareApp = Pick<App, 'db' | 'blobs' | 'config' | 'clock' | 'htmlText'> & {
  downloads: Downloads;
};

/** What the request this email is a part of may still take. */
export type Share = { holdText: HoldText; files?: Allowance };

/**
 * The bytes of the answer are stored: who does not commit it discards them.
 *
 * @throws AppError validation_error, restricted_api_key, domain_not_verified, suppressed_recipient, quota_exceeded,
 * unavailable
 */
export async function prepareEmail(
  app: PrepareApp,
  caller: Caller,
  request: EmailRequest,
  share: Share,
): Promise<EmailRows> {
  const { addresses, headers } = request;
  const recipients = envelopeRecipients(addresses);
  const simulatorOnly = recipients.every(({ domain }) => isSimulatorDomain(app.config, domain));
  const { domainId } = await requireSender(app, caller, { domain: addresses.from.domain, simulatorOnly });
  const topic = await requireTopic(app, caller.tenantId, request.topicId);
  const { holdText, files: allowance } = share;
  const content = await renderContent(app, caller.tenantId, { request: request.content, holdText });
  const policy = policyOf(app.config, caller, { type: request.type, topic, recipients, simulatorOnly });
  if (mayBeLarge(request, content))
    await requirePolicy(app.db.read, caller.tenantId, { ...policy, now: app.clock.now() });
  using loaded = await loadAttachments(app, caller.tenantId, { requests: request.attachments, allowance });
  const { attachments } = loaded;
  // Only now: the files took their time, and what looks for due mail does not look far back.
  const now = app.clock.now();
  const id = newId('em', now);
  const messageId = `${id}@${addresses.from.domain}`;
  const stored = await storeMessage(app, {
    ...addresses,
    ...content,
    headers,
    attachments,
    messageId,
    boundarySeed: id,
  });
  return buildRows(app.config, caller, {
    ...{ id, messageId, now, request, policy, domainId },
    ...{ content, attachments, stored },
  });
}

/** Text and HTML together: encoded, four times as much would be a file (blobs.ts). */
const LARGE_CHARACTERS = INLINE_BYTES / 4;

function mayBeLarge({ attachments }: EmailRequest, { html = '', text = '' }: Content): boolean {
  return attachments.length > 0 || html.length + text.length > LARGE_CHARACTERS;
}

/** decisions.md 6. */
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
