/** Tests the delivery to an address up to RCPT, and shows each step. The test connects to other machines, and runs only when somebody asks. */
import type { TestEvent } from '../../queue/delivery-test/run.ts';
import { Foreign, Heading, Sentence, Status } from '../frame/elements.tsx';
import { Field, Form } from '../frame/forms.tsx';
import { ReplyClass } from '../frame/reply-class.tsx';
import { SmtpSession } from '../frame/smtp-session.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { aboutTenant } from './find-tenant.ts';
import { QueueTabs } from './queue/tabs.tsx';

type Context = Contexts['operator'];

export const deliverTestPage = definePage({
  area: 'operator',
  path: '/deliver-test',
  within: '/queue',
  async show(context) {
    const { sites } = context.texts;
    const field = { context, action: 'test' };
    return {
      title: sites.test,
      body: (
        <>
          <Heading title={sites.test} />
          <QueueTabs context={context} />
          <p>{sites.testText}</p>
          <Form context={context} action="test" submit={sites.testNow}>
            <Field {...field} name="address" label={sites.testAddress} isRequired />
            <Field {...field} name="tenant" label={sites.testTenant} />
          </Form>
        </>
      ),
    };
  },
  actions: {
    test: {
      logs: ['address', 'tenant'],
      async run(context, form) {
        const address = fieldOf(form, 'address').trim();
        const tenant = fieldOf(form, 'tenant').trim();
        const body = { address, ...(tenant !== '' && { tenant }) };
        const events = await context.operator.postForLines<TestEvent>('/deliver-test', body);
        const acted = await aboutTenant(context.operator, tenant);
        return { ...resultView(context, { address, events }), acted };
      },
    },
  },
});

function resultView(context: Context, { address, events }: { address: string; events: TestEvent[] }) {
  const { sites } = context.texts;
  const title = sites.testOf(address);
  const lines = events.filter((event) => event.kind === 'line');
  const body = (
    <>
      <Heading title={title}>
        <a href={context.path}>{sites.back}</a>
      </Heading>
      {events.map((event) =>
        event.kind === 'result' ? <Result key="result" context={context} result={event} /> : null,
      )}
      <ol>
        {events.map((event) =>
          event.kind === 'step' ? (
            <li key={`${event.step} ${event.text}`}>
              {sites.steps[event.step]}: <Foreign text={event.text} />
            </li>
          ) : null,
        )}
      </ol>
      {lines.length > 0 && (
        <>
          <h2>{sites.session}</h2>
          <SmtpSession label={sites.session} lines={lines} />
        </>
      )}
    </>
  );
  return { title, body };
}

type Result = Extract<TestEvent, { kind: 'result' }>;

function Result({ context, result }: { context: Context; result: Result }) {
  const { sites } = context.texts;
  const { isAccepted, text, class: replyClass, advice } = result;
  return (
    <section class="notice" aria-label={sites.result}>
      <p>
        <Status tone={isAccepted ? 'good' : 'bad'}>{isAccepted ? sites.accepted : sites.notAccepted}</Status>{' '}
        <Foreign text={text} />
      </p>
      {replyClass !== null && (
        <p>
          <ReplyClass context={context} name={replyClass} />
        </p>
      )}
      {advice !== null && (
        <p>
          <Sentence context={context} text={advice} />
        </p>
      )}
    </section>
  );
}
