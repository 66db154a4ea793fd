/** A broadcast: a draft with its preview and test, or the progress and the results of one that has started. */
import type { ShownBroadcast } from '../../../broadcasts/schemas.ts';
import { Heading } from '../../frame/elements.tsx';
import { ActionButton, Disclosure } from '../../frame/forms.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { ApprovalPart, decisionActions } from '../../sending/approvals/decision.tsx';
import { draftParts, findContactId, type TestAnswer, TestResults } from './draft.tsx';
import { broadcastFacts, broadcastPath, getBroadcast } from './facts.tsx';
import { PACE_LOGS, readPaceOf } from './pace.tsx';
import { Progress } from './progress.tsx';
import { reportParts } from './report.tsx';
import { sendAgain } from './send-again.ts';

export const broadcastPage = definePage({
  area: 'tenant',
  path: '/broadcasts/:broadcastId',
  async show(context) {
    const broadcast = await getBroadcast(context);
    const isDraft = broadcast.status === 'draft' || broadcast.status === 'scheduled';
    return {
      title: broadcast.subject,
      isLive: broadcast.status === 'sending',
      body: (
        <>
          <Heading title={broadcast.subject}>
            {isDraft && <DraftWays context={context} broadcast={broadcast} />}
          </Heading>
          {await broadcastFacts(context, broadcast)}
          <ApprovalPart context={context} approval={broadcast.approval} />
          {isDraft ? (
            await draftParts(context, broadcast)
          ) : (
            <>
              <Progress context={context} broadcast={broadcast} />
              {await reportParts(context, broadcast)}
            </>
          )}
        </>
      ),
    };
  },
  actions: {
    ...decisionActions(broadcastPath),
    test: {
      async run(context, form) {
        const contact = fieldOf(form, 'contact').trim();
        const contactId = contact === '' ? null : await findContactId(context, contact);
        const to = fieldOf(form, 'to').split(/[,\n]/);
        const { data } = await context.api.post<TestAnswer>(`${broadcastPath(context)}/test`, {
          to: to.map((one) => one.trim()).filter((one) => one !== ''),
          ...(contactId !== null && { contactId }),
        });
        const title = context.texts.broadcasts.testResult;
        return { title, body: <TestResults context={context} results={data} /> };
      },
    },
    unschedule: {
      async run(context) {
        await context.api.patch(broadcastPath(context), { scheduleAt: null });
        return { to: context.path, said: 'saved' };
      },
    },
    pace: {
      logs: PACE_LOGS,
      async run(context, form) {
        await context.api.patch(broadcastPath(context), { pace: readPaceOf(context, form) });
        return { to: context.path, said: 'saved' };
      },
    },
    pause: { run: (context) => control(context, 'pause') },
    resume: { run: (context) => control(context, 'resume') },
    cancel: { run: (context) => control(context, 'cancel') },
    again: { run: sendAgain },
    delete: {
      async run(context) {
        await context.api.delete(broadcastPath(context));
        return { to: context.at('/broadcasts'), said: 'deleted' };
      },
    },
  },
});

/** Names the message that the page shows after each verb. */
const CONTROLLED = { pause: 'paused', resume: 'resumed', cancel: 'broadcastCanceled' } as const;

async function control(context: TenantContext, verb: 'pause' | 'resume' | 'cancel') {
  await context.api.post(`${broadcastPath(context)}/${verb}`);
  return { to: context.path, said: CONTROLLED[verb] };
}

/** Shows the actions for a broadcast that has not started. */
function DraftWays({
  context,
  broadcast: { id, status },
}: {
  context: TenantContext;
  broadcast: ShownBroadcast;
}) {
  const { texts, at, can, failed } = context;
  const { broadcasts } = texts;
  if (!can('write')) return null;
  return (
    <>
      <a href={at(`/broadcasts/${id}/edit`)}>{broadcasts.edit}</a>
      <a class="button" href={at(`/broadcasts/${id}/check`)}>
        {broadcasts.check}
      </a>
      {status === 'scheduled' && (
        <ActionButton context={context} action="unschedule" submit={broadcasts.unschedule} />
      )}
      <Disclosure label={broadcasts.deletion} isOpen={failed?.action === 'delete'}>
        <p>{broadcasts.deletionText}</p>
        <ActionButton context={context} action="delete" submit={broadcasts.deletion} isDangerous />
      </Disclosure>
    </>
  );
}
