/** The log of the posts to a webhook endpoint, and posting those of a time again. */
import type { Static } from 'typebox';
import { answerOf, path } from '../../../http/json/calls.ts';
import type { pageSchema } from '../../../http/json/page.ts';
import type { AppError } from '../../../system/errors.ts';
import type { deliverySchema, replayResultSchema } from '../../../webhooks/log/schemas.ts';
import { countText, MAX_COUNTED } from '../../frame/counted.ts';
import { Heading, Status, Time, type Tone } from '../../frame/elements.tsx';
import { Form } from '../../frame/forms.tsx';
import { FilterField, FilterSelect, Filters, Pager, readList, Table } from '../../frame/lists.tsx';
import { WithRefusal } from '../../frame/refusal.tsx';
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
          {context.can('write') && <Replay context={context} counted={await countWanted(context)} />}
        </>
      ),
    };
  },
  actions: {
    replay: {
      logs: ['state', 'since'],
      async run(context, form) {
        const { formats, texts } = context;
        const wanted = wantedOf((name) => fieldOf(form, name));
        const { count } = await context.api.post<Static<typeof replayResultSchema>>(
          `${pathOf(context)}/replay`,
          wanted,
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

type Wanted = { since: string; status?: string };

/** Returns the posts that are to be made again, as the API is asked for them. */
function wantedOf(read: (name: string) => string | null): Wanted {
  const status = read('state') ?? '';
  return { since: read('since') ?? '', ...(status !== '' && { status }) };
}

/** The posts that the address of the page asks for, with their number, or the reason why they cannot be made. */
type Counted = { wanted: Wanted; answer: { count: number } | AppError };

async function countWanted(context: TenantContext): Promise<Counted | undefined> {
  const { api, query, formats } = context;
  if (!query.get('since')) return undefined;
  const wanted = wantedOf((name) => query.get(name));
  wanted.since = isoTimeOf(wanted.since, formats.timeZone);
  const asked = { ...wanted, maximum: MAX_COUNTED + 1 };
  return {
    wanted,
    answer: await answerOf(api.get<{ count: number }>(`${pathOf(context)}/replay`, asked)),
  };
}

type ReplayProps = { context: TenantContext; counted: Counted | undefined };

/** Posts are made again in two steps: the first counts them, and changes nothing. */
function Replay({ context, counted }: ReplayProps) {
  const { webhooks } = context.texts;
  const refusal = counted?.answer instanceof Error ? counted.answer : undefined;
  const options = [
    { value: 'failed', label: webhooks.states.failed },
    { value: 'skipped', label: webhooks.states.skipped },
  ];
  return (
    <>
      <h2 id="replay">{webhooks.replayRange}</h2>
      <p>{webhooks.replayText}</p>
      <form method="get" action={`${context.path}#replay`} class="filters" aria-label={webhooks.replayRange}>
        <WithRefusal context={context} refusal={refusal}>
          <FilterField
            context={context}
            name="since"
            type="datetime-local"
            label={webhooks.since(context.formats.timeZone)}
          />
          <FilterSelect
            context={context}
            name="state"
            label={webhooks.status}
            options={options}
            all={webhooks.failedAndSkipped}
          />
        </WithRefusal>
        <div class="buttons">
          <button type="submit">{webhooks.count}</button>
        </div>
      </form>
      {counted && !refusal && <Confirmation context={context} counted={counted} />}
    </>
  );
}

function Confirmation({ context, counted }: { context: TenantContext; counted: Counted }) {
  const { webhooks } = context.texts;
  const { wanted, answer } = counted;
  if (answer instanceof Error) return null;
  if (answer.count === 0) return <p class="empty">{webhooks.reachesNone}</p>;
  const { since, status = '' } = wanted;
  return (
    <section class="notice" aria-label={webhooks.replay}>
      <p>{webhooks.reaches(countText(context, answer.count))}</p>
      <Form context={context} action="replay" submit={webhooks.replay} fields={{ since, state: status }}>
        {null}
      </Form>
    </section>
  );
}
