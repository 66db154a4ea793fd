/** The last look at a broadcast before it is sent: the preflight as a checklist, and the ways to send it. */
import type { Static } from 'typebox';
import { WARNING_CODES } from '../../../broadcasts/preflight/warnings.ts';
import type { preflightSchema } from '../../../broadcasts/preview-schemas.ts';
import type { ShownBroadcast } from '../../../broadcasts/schemas.ts';
import type { Form as FormBody } from '../../../http/pages/form-body.ts';
import { AppError } from '../../../system/errors.ts';
import { Foreign, Heading, Sentence, Status } from '../../frame/elements.tsx';
import { ActionButton, Disclosure, Field, Form } from '../../frame/forms.tsx';
import { isWhole, Later } from '../../frame/later.tsx';
import { Table } from '../../frame/lists.tsx';
import { Why } from '../../frame/refusal.tsx';
import { localTimeOf } from '../../local-time.ts';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { TranslatedRefusal } from '../../texts/refusal.ts';
import { broadcastPath, getBroadcast } from './facts.tsx';
import { PACE_LOGS, PaceFields, readMoment, readPaceOf } from './pace.tsx';

type Preflight = Static<typeof preflightSchema>;

export const checkBroadcastPage = definePage({
  area: 'tenant',
  path: '/broadcasts/:broadcastId/check',
  needs: 'write',
  async show(context) {
    const { broadcasts } = context.texts;
    const broadcast = await getBroadcast(context);
    const preflight = isWhole(context) ? await findPreflight(context) : undefined;
    return {
      title: broadcasts.checkTitle,
      body: (
        <>
          <Heading title={broadcasts.checkTitle}>
            <a href={context.at(`/broadcasts/${broadcast.id}`)}>{broadcasts.back}</a>
          </Heading>
          <p>
            <Foreign text={broadcast.subject} />
          </p>
          <Later context={context} id="preflight">
            {preflight instanceof AppError && (
              <p class="refused" role="alert">
                {broadcasts.notReady}: <Why context={context} refusal={preflight} />
              </p>
            )}
            {preflight !== undefined && !(preflight instanceof AppError) && (
              <>
                <Reach context={context} preflight={preflight} />
                <Checklist context={context} preflight={preflight} />
                <Links context={context} links={preflight.links} />
                <Sending context={context} broadcast={broadcast} />
              </>
            )}
          </Later>
        </>
      ),
    };
  },
  actions: {
    send: {
      async run(context, form) {
        await requireSeen(context, form);
        await context.api.post(`${broadcastPath(context)}/send`);
        return { to: context.at(`/broadcasts/${context.params['broadcastId']}`), said: 'sending' };
      },
    },
    schedule: {
      logs: ['scheduleAt', ...PACE_LOGS],
      async run(context, form) {
        await requireSeen(context, form);
        const { timeZone } = context.formats;
        const scheduleAt = readMoment(fieldOf(form, 'scheduleAt'), 'scheduleAt', timeZone);
        const change = { scheduleAt, pace: readPaceOf(context, form) };
        await context.api.patch(broadcastPath(context), change);
        return { to: context.at(`/broadcasts/${context.params['broadcastId']}`), said: 'scheduled' };
      },
    },
  },
});

/** Name of the field with the time of the last change that the page has shown. */
const SEEN = 'seen';

/**
 * Checks that what is sent is what the person has looked at: somebody else, or a program, may have changed it meanwhile.
 * @throws AppError invalid_state
 */
async function requireSeen(context: TenantContext, form: FormBody): Promise<void> {
  const { updatedAt } = await getBroadcast(context);
  if (fieldOf(form, SEEN) !== updatedAt)
    throw new TranslatedRefusal('invalid_state', context.texts.broadcasts.changedMeanwhile);
}

/** Returns the preflight, or why the broadcast cannot be sent. */
async function findPreflight(context: TenantContext): Promise<Preflight | AppError> {
  try {
    return await context.api.get<Preflight>(`${broadcastPath(context)}/preflight`);
  } catch (refusal) {
    if (refusal instanceof AppError) return refusal;
    throw refusal;
  }
}

type Props = { context: TenantContext; preflight: Preflight };

function Reach({ context, preflight: { recipients, contacts, excluded, sample } }: Props) {
  const { texts, formats } = context;
  const { broadcasts } = texts;
  const reasons = (['suppressed', 'unsubscribed', 'optedOut', 'notOptedIn'] as const).filter(
    (reason) => excluded[reason] > 0,
  );
  return (
    <>
      <p>
        <strong>{broadcasts.gets(formats.number(recipients), formats.number(contacts))}</strong>
      </p>
      {reasons.length > 0 && (
        <ul>
          {reasons.map((reason) => (
            <li key={reason}>
              {formats.number(excluded[reason])} {broadcasts.excluded[reason]}
            </li>
          ))}
        </ul>
      )}
      <p>{broadcasts.size(formats.bytes(sample.sizeBytes), formats.bytes(sample.htmlBytes))}</p>
    </>
  );
}

function Checklist({ context, preflight: { recipients, warnings } }: Props) {
  const { broadcasts } = context.texts;
  const messages = new Map<string, string>(warnings.map(({ code, message }) => [code, message]));
  if (recipients === 0) messages.set('recipients', '');
  return (
    <ul class="checklist">
      {['recipients', ...WARNING_CODES].map((code) => {
        const message = messages.get(code);
        return (
          <li key={code}>
            <Status tone={message === undefined ? 'good' : 'warning'}>
              {message === undefined ? broadcasts.good : broadcasts.attention}
            </Status>{' '}
            {broadcasts.checks[code] ?? code}
            {message !== undefined && message !== '' && (
              <small>{broadcasts.checkAdvice[code] ?? <Sentence context={context} text={message} />}</small>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Links({ context, links }: { context: TenantContext; links: Preflight['links'] }) {
  const { broadcasts, frame } = context.texts;
  if (links.length === 0) return null;
  const rows = links.map((link, index) => ({ ...link, index }));
  return (
    <Table
      context={context}
      caption={broadcasts.links}
      rows={rows}
      keyOf={({ index }) => String(index)}
      columns={[
        { label: broadcasts.link, cell: ({ url }) => <Foreign text={url} /> },
        { label: broadcasts.tracked, cell: ({ isTracked }) => (isTracked ? frame.yes : frame.no) },
      ]}
    />
  );
}

function Sending({ context, broadcast }: { context: TenantContext; broadcast: ShownBroadcast }) {
  const { texts, formats, failed } = context;
  const { broadcasts } = texts;
  const { scheduleAt, pace } = broadcast;
  return (
    <>
      <section aria-labelledby="schedule">
        <h2 id="schedule">{broadcasts.schedule}</h2>
        <Form context={context} action="schedule" submit={broadcasts.schedule}>
          <input type="hidden" name={SEEN} value={broadcast.updatedAt} />
          <Field
            context={context}
            action="schedule"
            name="scheduleAt"
            type="datetime-local"
            label={broadcasts.scheduleFor(formats.timeZone)}
            value={scheduleAt === null ? '' : localTimeOf(scheduleAt, formats.timeZone)}
            isRequired
          />
          <PaceFields context={context} action="schedule" pace={pace} />
        </Form>
      </section>
      <section aria-labelledby="send">
        <h2 id="send">{broadcasts.sendNow}</h2>
        <Disclosure label={broadcasts.sendNow} isOpen={failed?.action === 'send'}>
          <p>{broadcasts.sendNowText}</p>
          <ActionButton
            context={context}
            action="send"
            submit={broadcasts.sendNow}
            fields={{ [SEEN]: broadcast.updatedAt }}
          />
        </Disclosure>
      </section>
    </>
  );
}
