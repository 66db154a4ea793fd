/** The page of a webhook endpoint: its state, a test, its settings, its secret, and its end. */
import type { Static } from 'typebox';
import { EVENT_TYPES } from '../../../events/store.ts';
import { path } from '../../../http/json/calls.ts';
import type { testResultSchema } from '../../../webhooks/schemas.ts';
import { Facts, Foreign, Heading, Status, Time } from '../../frame/elements.tsx';
import { ActionButton, Disclosure, Form, Select } from '../../frame/forms.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { domainNames } from '../domains/choice.tsx';
import { type Endpoint, EndpointStatus } from './list.tsx';
import { EndpointFields, type EndpointWithSecret, endpointFields, NewSecret } from './new.tsx';

type TestResult = Static<typeof testResultSchema>;

/** Times for which the previous secret signs beside the new one, in hours. */
const OVERLAP_HOURS = [0, 1, 24, 168] as const;
const HOUR_SECONDS = 3600;

export const webhookPage = definePage({
  area: 'tenant',
  path: '/webhooks/:id',
  async show(context) {
    const endpoint = await context.api.get<Endpoint>(pathOf(context));
    return {
      title: endpoint.url,
      body: (
        <>
          {await summary(context, endpoint)}
          {context.can('write') && <Test context={context} />}
          {context.can('write') && <Settings context={context} endpoint={endpoint} />}
        </>
      ),
    };
  },
  actions: {
    test: {
      logs: ['type'],
      async run(context, form) {
        const type = fieldOf(form, 'type');
        const result = await context.api.post<TestResult>(`${pathOf(context)}/test`, { type });
        const { title } = context.texts.webhooks.testResult;
        return { title, body: <TestAnswer context={context} result={result} /> };
      },
    },
    change: {
      logs: ['events'],
      async run(context, form) {
        await context.api.patch(pathOf(context), endpointFields(form));
        return { to: context.path, said: 'saved' };
      },
    },
    status: {
      logs: ['status'],
      async run(context, form) {
        await context.api.patch(pathOf(context), { status: fieldOf(form, 'status') });
        return { to: context.path, said: 'saved' };
      },
    },
    rotate: {
      logs: ['overlapHours'],
      async run(context, form) {
        const body = { overlapSeconds: Number(fieldOf(form, 'overlapHours')) * HOUR_SECONDS };
        const endpoint = await context.api.post<EndpointWithSecret>(`${pathOf(context)}/rotate-secret`, body);
        return {
          title: context.texts.webhooks.secretTitle,
          body: <NewSecret context={context} endpoint={endpoint} />,
        };
      },
    },
    delete: {
      async run(context) {
        await context.api.delete(pathOf(context));
        return { to: context.at('/webhooks'), said: 'deleted' };
      },
    },
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/webhooks/${params['id'] ?? ''}`;
}

type Props = { context: TenantContext; endpoint: Endpoint };

async function summary(context: TenantContext, endpoint: Endpoint) {
  const { webhooks, keys } = context.texts;
  const { url, description, domainId, events, format, status } = endpoint;
  const names = await domainNames(context, [domainId]);
  const other = status === 'enabled' ? 'disabled' : 'enabled';
  const since = (label: string, at: string | null) =>
    at === null ? [] : [[label, <Time key={label} context={context} at={at} />] as const];
  return (
    <>
      <Heading title={url}>
        <a class="button" href={`${context.path}/deliveries`}>
          {webhooks.log}
        </a>
        {context.can('write') && (
          <ActionButton
            context={context}
            action="status"
            submit={status === 'enabled' ? webhooks.pause : webhooks.enable}
            fields={{ status: other }}
          />
        )}
      </Heading>
      <Facts
        facts={[
          [webhooks.status, <EndpointStatus key="status" context={context} endpoint={endpoint} />],
          ...(description === null
            ? []
            : [[webhooks.description, <Foreign key="description" text={description} />] as const]),
          [keys.domain, domainId === null ? keys.anyDomain : <bdi key="domain">{names.get(domainId)}</bdi>],
          [webhooks.events, events.join(', ')],
          [webhooks.format, webhooks.formats[format]],
          [webhooks.createdAt, <Time key="created" context={context} at={endpoint.createdAt} />],
          ...since(webhooks.disabledAt, endpoint.disabledAt),
          ...since(webhooks.failingSince, endpoint.failingSince),
          ...since(webhooks.suspendedUntil, endpoint.suspendedUntil),
          ...since(webhooks.waitingSince, endpoint.waitingSince),
          ...since(webhooks.previousSecret, endpoint.previousSecretExpiresAt),
        ]}
      />
    </>
  );
}

function Test({ context }: { context: TenantContext }) {
  const { webhooks } = context.texts;
  return (
    <>
      <h2>{webhooks.test}</h2>
      <p>{webhooks.testText}</p>
      <Form context={context} action="test" submit={webhooks.testNow}>
        <Select
          context={context}
          action="test"
          name="type"
          label={webhooks.event}
          value="email.delivered"
          options={EVENT_TYPES.map((value) => ({ value, label: value }))}
        />
      </Form>
    </>
  );
}

function TestAnswer({ context, result }: { context: TenantContext; result: TestResult }) {
  const { webhooks } = context.texts;
  const { testResult } = webhooks;
  const { delivered, responseStatus, responseTimeMs, error } = result;
  return (
    <>
      <Heading title={testResult.title} />
      <Facts
        facts={[
          [
            webhooks.status,
            <Status key="status" tone={delivered ? 'good' : 'bad'}>
              {delivered ? testResult.delivered : testResult.failed}
            </Status>,
          ],
          [webhooks.responseStatus, responseStatus ?? context.texts.frame.none],
          ...(responseTimeMs === null
            ? []
            : [[webhooks.responseTime, webhooks.milliseconds(responseTimeMs)] as const]),
          ...(error === null ? [] : [[webhooks.error, <Foreign key="error" text={error} />] as const]),
        ]}
      />
      <p>
        <a href={context.path}>{webhooks.toEndpoint}</a>
      </p>
    </>
  );
}

function Settings({ context, endpoint }: Props) {
  const { webhooks, frame } = context.texts;
  const overlaps = OVERLAP_HOURS.map((hours) => ({ value: String(hours), label: webhooks.overlaps(hours) }));
  return (
    <>
      <h2>{webhooks.settings}</h2>
      <Disclosure label={frame.edit} isOpen={context.failed?.action === 'change'}>
        <Form context={context} action="change" submit={frame.save}>
          <EndpointFields context={context} action="change" values={endpoint} />
        </Form>
      </Disclosure>
      <Disclosure label={webhooks.rotate} isOpen={context.failed?.action === 'rotate'}>
        <p>{webhooks.rotateText}</p>
        <Form context={context} action="rotate" submit={webhooks.rotateNow}>
          <Select
            context={context}
            action="rotate"
            name="overlapHours"
            label={webhooks.overlap}
            value="24"
            options={overlaps}
          />
        </Form>
      </Disclosure>
      <Disclosure label={webhooks.delete} isOpen={context.failed?.action === 'delete'}>
        <p>{webhooks.deleteText}</p>
        <Form context={context} action="delete" submit={webhooks.deleteNow} isDangerous>
          {null}
        </Form>
      </Disclosure>
    </>
  );
}
