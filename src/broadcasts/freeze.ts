/** Freezes a broadcast at its start: its texts are stored once for all copies, with everything else that a copy needs. */
import type { App } from '../app.ts';
import { filterOf } from '../audiences/segments/scan.ts';
import { findSegment } from '../audiences/segments/store.ts';
import type { BroadcastRow, TemplateRow } from '../db/marketing-tables.ts';
import { broadcastFields, requireMarketingSize } from '../emails/marketing-fields.ts';
import { readMailbox } from '../emails/request/addresses.ts';
import { requireSender } from '../emails/sender.ts';
import { UNSUBSCRIBE_URL } from '../queue/contents/reader.ts';
import { createPacking, type NewSource } from '../queue/contents/source.ts';
import { findTemplate } from '../templates/store.ts';
import { usesIn } from '../templates/tags.ts';
import { findTopic } from '../topics/store.ts';
import { maxGrowth } from '../tracking/links/instrument.ts';
import { requireTracking } from './content-links.ts';
import type { Author } from './draft.ts';
import type { Frozen } from './frozen.ts';

type FrozenContent = { frozen: Frozen; source: NewSource; targets: readonly string[] };

/**
 * Returns the frozen broadcast. The caller has checked its fields.
 * @throws AppError validation_error, restricted_api_key, domain_not_verified, unavailable
 */
export async function freezeBroadcast(
  app: Pick<App, 'db' | 'clock' | 'config' | 'htmlText' | 'linkFinder'>,
  caller: Author,
  broadcast: BroadcastRow,
): Promise<FrozenContent> {
  const { tenantId, audienceId, fromHeader, subject, replyTo, topicId, templateId } = broadcast;
  const { read } = app.db;
  const topic = topicId === null ? undefined : await findTopic(read, tenantId, topicId);
  const template = templateId === null ? undefined : await findTemplate(read, tenantId, templateId);
  const { domain } = readMailbox('from', fromHeader);
  const sender = await requireSender(app, caller, { domain, simulatorOnly: false });
  const texts = await textsOf(app, broadcast, template);
  requireMarketingSize(texts);
  const { tracking, targets } = await requireTracking(app, tenantId, {
    html: texts.html,
    settings: sender.tracking,
  });
  const used = [subject, texts.html, texts.text ?? ''].flatMap((text) => usesIn([undefined, text]));
  return {
    targets,
    source: await createPacking()({ ...texts, ...(tracking && { tracking }) }),
    frozen: {
      audienceId,
      fromHeader,
      subject,
      replyTo,
      topicId,
      defaultOptIn: topic?.defaultOptIn ?? null,
      templateId,
      domainId: sender.domainId,
      complaintHost: sender.returnPathHost,
      filter: await filterOfBroadcast(app, broadcast),
      headers: broadcastFields(app, { ...broadcast, topicName: topic?.name }),
      uses: countUses(used.map(({ name }) => name)),
      characters: texts.html.length + (texts.text?.length ?? 0) + (tracking ? maxGrowth(tracking) : 0),
    },
  };
}

type Texts = { html: string; text?: string };

/** Returns the texts with their placeholders. A text that is missing is generated once, for all copies. */
async function textsOf(
  { htmlText }: Pick<App, 'htmlText'>,
  broadcast: BroadcastRow,
  template: TemplateRow | undefined,
): Promise<Texts> {
  const html = broadcast.html ?? template?.html ?? '';
  const given = broadcast.text ?? template?.text ?? undefined;
  if (given !== undefined) return { html, text: given };
  const { text } = await htmlText.convert(html, broadcast.tenantId);
  return text === '' ? { html } : { html, text };
}

async function filterOfBroadcast(
  { db }: Pick<App, 'db'>,
  { tenantId, segmentId }: BroadcastRow,
): Promise<Frozen['filter']> {
  const segment = segmentId === null ? undefined : await findSegment(db.read, tenantId, segmentId);
  return segment ? filterOf(segment) : null;
}

function countUses(names: readonly string[]): Record<string, number> {
  const uses: Record<string, number> = {};
  for (const name of names) if (name !== UNSUBSCRIBE_URL) uses[name] = (uses[name] ?? 0) + 1;
  return uses;
}
