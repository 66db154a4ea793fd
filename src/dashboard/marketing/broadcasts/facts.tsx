/** Shows the facts of a broadcast that do not depend on its state: to whom it goes, from whom, when and how fast. */
import type { ShownBroadcast } from '../../../broadcasts/schemas.ts';
import { path } from '../../../http/json/calls.ts';
import { AppError } from '../../../system/errors.ts';
import { Copyable, Facts, Foreign, Status, Time } from '../../frame/elements.tsx';
import type { TenantContext } from '../../page.ts';
import { BROADCAST_TONES } from './list.tsx';
import { paceText } from './pace.tsx';

/** Returns the path of the broadcast that a page is about. */
export function broadcastPath({ params }: TenantContext): string {
  return path`/broadcasts/${params['broadcastId'] ?? ''}`;
}

export function getBroadcast(context: TenantContext): Promise<ShownBroadcast> {
  return context.api.get<ShownBroadcast>(broadcastPath(context));
}

/** Returns the facts of a broadcast. What it names may have been deleted since. */
export async function broadcastFacts(context: TenantContext, broadcast: ShownBroadcast) {
  const { texts, at } = context;
  const { broadcasts } = texts;
  const { id, status, audienceId, segmentId, topicId, templateId, from, replyTo } = broadcast;
  const { scheduleAt, startedAt, sentAt, createdAt, failure, pausedReason } = broadcast;
  const name = (list: string, named: string | null) => nameOf(context, list, named);
  const link = (href: string, text: string) => (
    <a href={at(href)}>
      <Foreign text={text} />
    </a>
  );
  const topic = await name('topics', topicId);
  const template = await name('templates', templateId);
  const time = (label: string, moment: string | null) =>
    moment === null ? [] : [[label, <Time key={label} context={context} at={moment} />] as const];
  return (
    <>
      {pausedReason !== null && <p class="notice">{broadcasts.pausedReasons[pausedReason]}</p>}
      {failure !== null && (
        <p class="notice">
          {broadcasts.failure}: {failure}
        </p>
      )}
      <Facts
        facts={[
          [
            broadcasts.status,
            <Status key="status" tone={BROADCAST_TONES[status]}>
              {broadcasts.statuses[status]}
            </Status>,
          ],
          [
            broadcasts.to,
            segmentId === null
              ? link(
                  `/audiences/${audienceId}`,
                  broadcasts.wholeAudience(await name('audiences', audienceId)),
                )
              : link(`/segments/${segmentId}`, broadcasts.segment(await name('segments', segmentId))),
          ],
          [broadcasts.from, <Foreign key="from" text={from} />],
          ...(replyTo === null
            ? []
            : [[broadcasts.replyTo, <Foreign key="reply" text={replyTo} />] as const]),
          [broadcasts.topic, topicId === null ? broadcasts.noTopic : link(`/topics/${topicId}`, topic)],
          ...(templateId === null
            ? []
            : [[broadcasts.template, link(`/templates/${templateId}`, template)] as const]),
          [broadcasts.pace, paceText(context, broadcast.pace)],
          ...time(broadcasts.scheduleAt, scheduleAt),
          ...time(broadcasts.startedAt, startedAt),
          ...time(broadcasts.sentAt, sentAt),
          ...time(broadcasts.created, createdAt),
          ['ID', <Copyable key="id" context={context} text={id} />],
        ]}
      />
    </>
  );
}

/** Returns the name of a resource, or its id when it was deleted. */
async function nameOf({ api }: TenantContext, list: string, id: string | null): Promise<string> {
  if (id === null) return '';
  try {
    const query = list === 'segments' ? { count: false } : {};
    return (await api.get<{ name: string }>(`/${list}/${encodeURIComponent(id)}`, query)).name;
  } catch (refusal) {
    if (refusal instanceof AppError) return id;
    throw refusal;
  }
}
