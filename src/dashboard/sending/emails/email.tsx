/** One email: its facts, what became of each recipient and why, its events and its content; it can be canceled and sent again. */
import { path } from '../../../http/json/calls.ts';
import { Foreign, Heading, Time } from '../../frame/elements.tsx';
import { ActionButton, Disclosure, Field, Form } from '../../frame/forms.tsx';
import { isoTimeOf, localTimeOf } from '../../local-time.ts';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { ApprovalPart, decisionActions } from '../approvals/decision.tsx';
import { Attachments, Content } from './content.tsx';
import { EmailFacts, emailPath } from './facts.tsx';
import { type Email, Recipients } from './recipients.tsx';
import { mayResend, resend } from './resend.ts';

/** Number of the newest events on the page: an email to many recipients that all click has thousands. */
const SHOWN_EVENTS = 50;

export const emailPage = definePage({
  area: 'tenant',
  path: '/emails/:id',
  async show(context) {
    const { api, texts, params } = context;
    const email = await api.get<Email>(path`/emails/${params['id'] ?? ''}`);
    return {
      title: email.subject,
      body: (
        <>
          <Heading title={email.subject}>
            <a href={`${emailPath(context, email.id)}/attempts`}>{texts.email.attemptsTitle}</a>
            {email.contentDeletedAt === null && <SourceLinks context={context} id={email.id} />}
          </Heading>
          <EmailFacts context={context} email={email} />
          <ApprovalPart context={context} approval={email.approval} />
          {context.can('write') && <Actions context={context} email={email} />}
          <Recipients context={context} recipients={email.recipients} />
          <Attachments context={context} email={email} />
          <Content context={context} email={email} />
          <Timeline context={context} email={email} />
        </>
      ),
    };
  },
  actions: {
    ...decisionActions(({ params }) => path`/emails/${params['id'] ?? ''}`),
    cancel: {
      async run(context) {
        const { id = '' } = context.params;
        await context.api.post(path`/emails/${id}/cancel`);
        return { to: emailPath(context, id), said: 'canceled' };
      },
    },
    reschedule: {
      logs: ['scheduledAt'],
      async run(context, form) {
        const { api, formats, params } = context;
        const { id = '' } = params;
        const scheduledAt = isoTimeOf(fieldOf(form, 'scheduledAt'), formats.timeZone);
        await api.patch(path`/emails/${id}`, { scheduledAt });
        return { to: emailPath(context, id), said: 'rescheduled' };
      },
    },
    resend: {
      async run(context) {
        const { api, params } = context;
        const email = await api.get<Email>(path`/emails/${params['id'] ?? ''}`);
        return { to: emailPath(context, await resend(api, email)), said: 'resent' };
      },
    },
  },
});

function SourceLinks({ context, id }: { context: TenantContext; id: string }) {
  const { email } = context.texts;
  const page = emailPath(context, id);
  return (
    <>
      <a href={`${page}/check`}>{email.check}</a>
      <a href={`${page}/raw`} download>
        {email.raw}
      </a>
    </>
  );
}

function Actions({ context, email }: { context: TenantContext; email: Email }) {
  const { texts, failed } = context;
  const { queued = 0, deferred = 0, held = 0 } = email.recipientCounts;
  const waiting = queued + deferred + held;
  return (
    <div class="buttons">
      <Reschedule context={context} email={email} />
      {waiting > 0 && (
        <Disclosure label={texts.email.cancel} isOpen={failed?.action === 'cancel'}>
          <p>{texts.email.cancelText(context.formats.number(waiting))}</p>
          <ActionButton context={context} action="cancel" submit={texts.email.cancel} isDangerous />
        </Disclosure>
      )}
      {mayResend(email) && (
        <Disclosure label={texts.email.resend} isOpen={failed?.action === 'resend'}>
          <p>{texts.email.resendText(context.formats.number(email.recipients.length))}</p>
          <ActionButton context={context} action="resend" submit={texts.email.resend} />
        </Disclosure>
      )}
    </div>
  );
}

/** Moves an email to another time, as long as its time has not come. */
function Reschedule({ context, email: { status, scheduledAt } }: { context: TenantContext; email: Email }) {
  const { texts, formats, failed, app } = context;
  if (status !== 'queued' || scheduledAt === null || Date.parse(scheduledAt) <= app.clock.now()) return null;
  const field = { context, action: 'reschedule' };
  return (
    <Disclosure label={texts.email.reschedule} isOpen={failed?.action === 'reschedule'}>
      <Form {...field} submit={texts.email.reschedule}>
        <Field
          {...field}
          name="scheduledAt"
          type="datetime-local"
          label={texts.email.rescheduleFor(formats.timeZone)}
          value={localTimeOf(scheduledAt, formats.timeZone)}
          help={texts.email.rescheduleHelp}
          isRequired
        />
      </Form>
    </Disclosure>
  );
}

function Timeline({ context, email: { events } }: { context: TenantContext; email: Email }) {
  const { email } = context.texts;
  const names: Readonly<Record<string, string>> = email.events;
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">{email.timeline}</h2>
      {events.length > SHOWN_EVENTS && (
        <p class="muted">{email.newestEvents(context.formats.number(SHOWN_EVENTS))}</p>
      )}
      <ol class="timeline">
        {events.slice(-SHOWN_EVENTS).map(({ id, type, createdAt, to }) => (
          <li key={id}>
            <Time context={context} at={createdAt} /> <strong>{names[type] ?? type}</strong>{' '}
            <Foreign text={to} />
          </li>
        ))}
      </ol>
    </section>
  );
}
