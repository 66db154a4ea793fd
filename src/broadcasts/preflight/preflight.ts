/**
 * Shows what a broadcast will be before it is sent: who gets it, who does not and why, how large the message is, and what
 * may go wrong. It checks the broadcast as sending does, and changes nothing.
 */
import type { App } from '../../app.ts';
import { findContact } from '../../audiences/contacts/store.ts';
import { countReached, type ReachCounts } from '../../audiences/reach/count.ts';
import { filterOf, type Scans } from '../../audiences/segments/scan.ts';
import { findSegment } from '../../audiences/segments/store.ts';
import type { BroadcastRow, ContactRow, TopicRow } from '../../db/marketing-tables.ts';
import { readMailbox } from '../../emails/request/addresses.ts';
import { requireSender } from '../../emails/sender.ts';
import type { OriginCheck } from '../../links/check-origin.ts';
import { AppError } from '../../system/errors.ts';
import type { Caller } from '../../tenants/authenticate.ts';
import { findTopic } from '../../topics/store.ts';
import { listLinks, requireTracking, type ShownLink } from '../content-links.ts';
import { draftFieldsOf, readDraft } from '../draft.ts';
import { getBroadcast } from '../store.ts';
import { findTexts } from './preview.ts';
import { composeSample, type Sample, type SampleApp } from './sample.ts';
import { findWarnings, type Warning } from './warnings.ts';

type PreflightApp = SampleApp & { scans: Scans; originCheck: OriginCheck };

export type Preflight = {
  reach: ReachCounts;
  sample: Sample & { contactId: ContactRow['id'] | null };
  links: ShownLink[];
  warnings: Warning[];
};

type Asked = {
  id: string;
  /** Aborted when the caller no longer waits. */
  gone: AbortSignal;
  /** Reserves memory for the texts, whose characters it is given. */
  holdText: (characters: number) => unknown;
};

/**
 * Returns the preflight of a broadcast.
 * @throws AppError not_found, invalid_state, validation_error, restricted_api_key, domain_not_verified, unavailable
 */
export async function runPreflight(
  app: PreflightApp,
  caller: Caller,
  { id, gone, holdText }: Asked,
): Promise<Preflight> {
  const broadcast = await getBroadcast(app.db.read, caller, id);
  if (broadcast.status !== 'draft' && broadcast.status !== 'scheduled')
    throw new AppError('invalid_state', `A broadcast that is ${broadcast.status} has been started or ended`);
  await readDraft(app, caller, { wanted: draftFieldsOf(broadcast), given: {} });
  const sender = readMailbox('from', broadcast.fromHeader);
  const {
    domainId,
    tracking: settings,
    returnPathHost,
  } = await requireSender(app, caller, {
    domain: sender.domain,
    simulatorOnly: false,
  });
  const { topicId, tenantId } = broadcast;
  const topic = topicId === null ? undefined : await findTopic(app.db.read, tenantId, topicId);
  const texts = await findTexts(app, broadcast);
  holdText(texts.html.length + (texts.text?.length ?? 0));
  const reach = await countFor(app, broadcast, { topic, gone });
  const contact = await findSampleContact(app, broadcast, reach);
  const { tracking } = await requireTracking(app, tenantId, { html: texts.html, settings });
  const links = await listLinks(app, tenantId, { html: texts.html, tracking });
  const sampled = { broadcast, domainId, complaintHost: returnPathHost, topic, texts, tracking, contact };
  const sample = await composeSample(app, sampled);
  const warned = [broadcast.subject, texts.html, texts.text ?? ''];
  const warnings = await findWarnings(app, {
    broadcast,
    sender,
    htmlBytes: sample.htmlBytes,
    texts: warned,
  });
  return { reach, sample: { ...sample, contactId: contact?.id ?? null }, links, warnings };
}

async function countFor(
  app: PreflightApp,
  { tenantId, audienceId, segmentId }: BroadcastRow,
  { topic, gone }: { topic: TopicRow | undefined; gone: AbortSignal },
): Promise<ReachCounts> {
  const segment = segmentId === null ? undefined : await findSegment(app.db.read, tenantId, segmentId);
  const filter = segment && filterOf(segment);
  return countReached(app, { tenantId, audienceId, filter, topic, now: app.clock.now() }, gone);
}

/** Returns the newest contact that would get the broadcast. It may have been deleted since it was counted. */
async function findSampleContact(
  { db }: Pick<App, 'db'>,
  { tenantId, audienceId }: BroadcastRow,
  { newest }: ReachCounts,
): Promise<ContactRow | undefined> {
  return newest === undefined
    ? undefined
    : findContact(db.read, tenantId, { audienceId, idOrAddress: newest });
}
