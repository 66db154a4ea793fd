/** Checks a draft as a whole: when it is created, and after every change. */
import type { App } from '../app.ts';
import { findSegment } from '../audiences/segments/store.ts';
import { findAudience } from '../audiences/store.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import type { Tx } from '../db/operation.ts';
import { readMailbox } from '../emails/request/addresses.ts';
import { requireSender } from '../emails/sender.ts';
import { meantAmong } from '../http/json/near-misses.ts';
import { readAll, readEach } from '../http/json/read-fields.ts';
import { invalid } from '../system/errors.ts';
import { findTemplate } from '../templates/store.ts';
import type { Caller, CallerScope } from '../tenants/authenticate.ts';
import { findTopic } from '../topics/store.ts';
import { type ContentFields, checkOwnContent, checkSentContent } from './content.ts';
import { readPlan } from './plan.ts';
import type { BroadcastChange } from './schemas.ts';

/** Fields of a draft as requested; null when a field is not set. */
export type DraftFields = ContentFields &
  Pick<BroadcastRow, 'replyTo'> & { from: string } & Record<
    'audienceId' | 'segmentId' | 'topicId',
    string | null
  >;

type Draft = Pick<
  BroadcastRow,
  | 'audienceId'
  | 'segmentId'
  | 'fromHeader'
  | 'subject'
  | 'replyTo'
  | 'topicId'
  | 'templateId'
  | 'html'
  | 'text'
>;

/** Returns the fields of a stored draft, as a request would name them. */
export function draftFieldsOf(broadcast: BroadcastRow): DraftFields {
  const {
    fromHeader: from,
    subject,
    replyTo,
    audienceId,
    segmentId,
    topicId,
    templateId,
    html,
    text,
  } = broadcast;
  return { from, subject, replyTo, audienceId, segmentId, topicId, templateId, html, text };
}

/** The caller that a broadcast is checked for. For a scheduled broadcast whose time has come, it is the daemon. */
export type Author = CallerScope;

/**
 * Returns the checked draft. `given` holds the fields of the request, which errors name.
 * @throws AppError validation_error naming the field, restricted_api_key, domain_not_verified
 */
export async function readDraft(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  caller: Author,
  { wanted, given }: { wanted: DraftFields; given: BroadcastChange },
): Promise<Draft> {
  const { from, subject, replyTo, html, text } = wanted;
  const { sender } = readAll({
    misspelledFields: () => refuseMisspelledFields(given),
    sender: () => readMailbox('from', from),
    replyTo: () => replyTo !== null && readMailbox('replyTo', replyTo),
    content: () => checkOwnContent(wanted, given),
    plan: () => readPlan(given, app.clock.now()),
  });
  const { read } = app.db;
  const { tenantId } = caller;
  const target = await readTarget(read, tenantId, { ...wanted, given });
  const topic = await readReference(read, tenantId, { ...TOPIC, id: wanted.topicId, given });
  const template = await readReference(read, tenantId, { ...TEMPLATE, id: wanted.templateId, given });
  checkSentContent(wanted, template, given);
  // The sender is checked again when the broadcast is sent.
  await requireSender(app, caller, { domain: sender.domain, simulatorOnly: false });
  return {
    ...target,
    fromHeader: from,
    subject,
    replyTo,
    html,
    text,
    topicId: topic?.id ?? null,
    templateId: template?.id ?? null,
  };
}

/** Likely misspellings of fields. A dropped field could send the broadcast to the wrong recipients. */
const MISSPELLED_FIELDS: Readonly<Record<string, keyof BroadcastChange>> = {
  audience: 'audienceId',
  segment: 'segmentId',
  topic: 'topicId',
  template: 'templateId',
  // Emails use this name (specification 4.1).
  scheduledAt: 'scheduleAt',
};
const meantBy = meantAmong(Object.keys(MISSPELLED_FIELDS));

function refuseMisspelledFields(given: BroadcastChange): void {
  readEach(Object.keys(given), (field) => {
    const meant = meantBy(field);
    if (meant !== undefined)
      throw invalid(field, `\`${field}\` is not a field; did you mean \`${MISSPELLED_FIELDS[meant]}\`?`);
  });
}

type Reference<Row> = {
  name: 'audience' | 'segment' | 'topic' | 'template';
  find: (tx: Tx, tenantId: Caller['tenantId'], id: string) => Promise<Row | undefined>;
};

const AUDIENCE = { name: 'audience', find: findAudience } as const;
const SEGMENT = { name: 'segment', find: findSegment } as const;
const TOPIC = { name: 'topic', find: findTopic } as const;
const TEMPLATE = { name: 'template', find: findTemplate } as const;

/**
 * Returns the row that a field names, or undefined when the field is not set.
 * @throws AppError validation_error when the tenant has no such row
 */
async function readReference<Row>(
  tx: Tx,
  tenantId: Caller['tenantId'],
  { name, find, id, given }: Reference<Row> & { id: string | null; given: BroadcastChange },
): Promise<Row | undefined> {
  if (id === null) return undefined;
  const row = await find(tx, tenantId, id);
  if (row) return row;
  const field = `${name}Id` as const;
  const what =
    given[field] === undefined
      ? `names the ${name} ${id}, which no longer exists; send another with this change, or null`
      : `must name an existing ${name}`;
  throw invalid(field, `\`${field}\` ${what}`);
}

/**
 * Returns the audience and the segment. A segment determines its audience.
 * @throws AppError validation_error
 */
async function readTarget(
  tx: Tx,
  tenantId: Caller['tenantId'],
  { given, ...wanted }: Pick<DraftFields, 'audienceId' | 'segmentId'> & { given: BroadcastChange },
): Promise<Pick<Draft, 'audienceId' | 'segmentId'>> {
  const segment = await readReference(tx, tenantId, { ...SEGMENT, id: wanted.segmentId, given });
  const audience = await readReference(tx, tenantId, { ...AUDIENCE, id: wanted.audienceId, given });
  if (segment && audience && segment.audienceId !== audience.id) {
    const field = typeof given.segmentId === 'string' ? 'segmentId' : 'audienceId';
    throw invalid(field, '`segmentId` must name a segment of `audienceId`');
  }
  const audienceId = segment?.audienceId ?? audience?.id;
  if (audienceId === undefined)
    throw invalid('audienceId', '`audienceId` is required when `segmentId` is absent');
  return { audienceId, segmentId: segment?.id ?? null };
}
