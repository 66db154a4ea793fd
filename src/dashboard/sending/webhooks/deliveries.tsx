/** The log of the posts to a webhook endpoint, and posting those of a time again. */
import type { Static } from 'typebox';
import type { pageSchema } from '../../../http/json/page.ts';
import type { deliverySchema, replayResultSchema } from '../../../webhooks/log/schemas.ts';
import { path } from '../../calls.ts';
import { Heading, Status, Time, type Tone } from '../../frame/elements.tsx';
import { Disclosure, Field, Form, Select } from '../../frame/forms.tsx';
import { FilterSelect, Filters, Pager, readList, Table } from '../../frame/lists.tsx';
import { isoTimeOf } from '../../local-time.ts';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';

type Delivery = Static<typeof deliverySchema>;
type Deliveries = Static<ReturnType<typeof pageSchema<typeof deliverySchema>>>;

/** Colours of the states of a delivery. */
export const DELIVERY_TONES: Record<Delivery['status'], Tone> = {
  pending: 'neutral',
  delivered: 'good',
  failed: 'bad',
  skipped: 'warning',
};

export const deliveriesPage = definePage({
  area: 'tenant',
  path: '/webhooks/:id/deliveries',
  async show(context) {
    const { webhooks } = context.texts;
    const { page, refusal } = await readList<Deliveries>(context, `${pathOf(context)}/deliveries`, [
      'status',
    ]);
    const options = Object.entries(webhooks.states).map(([value, label]) => ({ value, label }));
    return {
      title: webhooks.log,
      body: (
        <>
          <Heading title={webhooks.log}>
            <a href={context.at(`/webhooks/${context.params['id']}`)}>{webhooks.toEndpoint}</a>
          </Heading>
          <Filters context={context} refusal={refusal}>
            <FilterSelect context={context} name="status" label={webhooks.status} options={options} />
          </Filters>
          <Log context={context} deliveries={page.data} />
          <Pager context={context} page={page} />
          {context.can('write') && <Replay context={context} />}
        </>
      ),
    };
  },
  actions: {
    replay: {
      logs: ['state', 'since'],
      async run(context, form) {
        const { formats, texts } = context;
        const status = fieldOf(form, 'state');
        const { count } = await context.api.post<Static<typeof replayResultSchema>>(
          `${pathOf(context)}/replay`,
          {
            since: isoTimeOf(fieldOf(form, 'since'), formats.timeZone),
            ...(status !== '' && { status }),
          },
        );
        const { replayed, backToLog } = texts.webhooks;
        return {
          title: replayed(formats.number(count)),
          body: (
            <>
              <Heading title={replayed(formats.number(count))} />
              <p>
                <a href={context.path}>{backToLog}</a>
              </p>
            </>
          ),
        };
      },
    },
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/webhooks/${params['id'] ?? ''}`;
}

function Log({ context, deliveries }: { context: TenantContext; deliveries: readonly Delivery[] }) {
  const { webhooks, frame } = context.texts;
  return (
    <Table
      context={context}
      caption={webhooks.log}
      rows={deliveries}
      keyOf={({ id }) => id}
      empty={context.query.size > 0 ? frame.noMatch : webhooks.noDeliveries}
      columns={[
        {
          label: webhooks.event,
          cell: ({ id, eventType }) => <a href={`${context.path}/${id}`}>{eventType}</a>,
        },
        {
          label: webhooks.status,
          cell: ({ status }) => <Status tone={DELIVERY_TONES[status]}>{webhooks.states[status]}</Status>,
        },
        {
          label: webhooks.attempts,
          isNumeric: true,
          cell: ({ attempts }) => context.formats.number(attempts),
        },
        {
          label: webhooks.responseStatus,
          isNumeric: true,
          cell: ({ responseStatus }) => responseStatus ?? '',
        },
        {
          label: webhooks.responseTime,
          isNumeric: true,
          cell: ({ responseTimeMs }) =>
            responseTimeMs === null ? '' : webhooks.milliseconds(responseTimeMs),
        },
        {
          label: webhooks.nextAttemptAt,
          cell: ({ nextAttemptAt }) =>
            nextAttemptAt === null ? '' : <Time context={context} at={nextAttemptAt} />,
        },
        { label: webhooks.createdAt, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
      ]}
    />
  );
}

function Replay({ context }: { context: TenantContext }) {
  const { webhooks } = context.texts;
  const field = { context, action: 'replay' };
  const options = [
    { value: '', label: webhooks.failedAndSkipped },
    { value: 'failed', label: webhooks.states.failed },
    { value: 'skipped', label: webhooks.states.skipped },
  ];
  return (
    <>
      <h2>{webhooks.replayRange}</h2>
      <Disclosure label={webhooks.replayRange} isOpen={context.failed?.action === 'replay'}>
        <p>{webhooks.replayText}</p>
        <Form {...field} submit={webhooks.replay}>
          <Field
            {...field}
            name="since"
            type="datetime-local"
            label={webhooks.since(context.formats.timeZone)}
            isRequired
          />
          <Select {...field} name="state" label={webhooks.status} options={options} />
        </Form>
      </Disclosure>
    </>
  );
}
