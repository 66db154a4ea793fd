/** The newest broadcasts of all tenants, which the operator pauses, resumes and cancels. Neither their subjects nor their content are shown. */
import type { OperatorBroadcast, OperatorBroadcasts } from '../../broadcasts/admin-api.ts';
import { STATUSES } from '../../broadcasts/schemas.ts';
import { answerOf, path } from '../../http/json/calls.ts';
import { Foreign, Heading, Status, Time } from '../frame/elements.tsx';
import { ActionButton, Disclosure } from '../frame/forms.tsx';
import { FilterField, FilterSelect, Filters, NextPager, Table } from '../frame/lists.tsx';
import { BROADCAST_TONES } from '../marketing/broadcasts/list.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { Refused } from './queue/criteria.tsx';
import { QueueTabs } from './queue/tabs.tsx';
import { TenantLink } from './tenant-link.tsx';

type Context = Contexts['operator'];
type Change = 'pause' | 'resume' | 'cancel';

/** Number of broadcasts on a page, which stays within 100 kB. */
const PAGE_SIZE = 50;

/** The changes that a broadcast in each status can have. */
const CHANGES: Partial<Record<OperatorBroadcast['status'], readonly Change[]>> = {
  scheduled: ['cancel'],
  sending: ['pause', 'cancel'],
  paused: ['resume', 'cancel'],
};

export const operatorBroadcastsPage = definePage({
  area: 'operator',
  path: '/broadcasts',
  within: '/queue',
  async show(context) {
    const { operator, query, texts } = context;
    const { sites, broadcasts, queue } = texts;
    const asked = {
      tenant: query.get('tenant')?.trim() ?? '',
      status: query.get('status') ?? '',
      after: query.get('after') ?? '',
      limit: PAGE_SIZE,
    };
    const listed = await answerOf(operator.get<OperatorBroadcasts>('/broadcasts', asked));
    const statuses = STATUSES.map((value) => ({ value, label: broadcasts.statuses[value] }));
    return {
      title: sites.broadcasts,
      body: (
        <>
          <Heading title={sites.broadcasts} />
          <QueueTabs context={context} />
          <p>{sites.broadcastsText}</p>
          <Filters context={context}>
            <FilterField context={context} name="tenant" label={queue.tenantHelp} />
            <FilterSelect context={context} name="status" label={broadcasts.status} options={statuses} />
          </Filters>
          {listed instanceof Error ? (
            <Refused context={context} refusal={listed} />
          ) : (
            <>
              <BroadcastTable context={context} broadcasts={listed.broadcasts} />
              <NextPager context={context} next={listed.next} />
            </>
          )}
        </>
      ),
    };
  },
  actions: {
    pause: { logs: ['id'], run: (context, form) => change(context, 'pause', fieldOf(form, 'id')) },
    resume: { logs: ['id'], run: (context, form) => change(context, 'resume', fieldOf(form, 'id')) },
    cancel: { logs: ['id'], run: (context, form) => change(context, 'cancel', fieldOf(form, 'id')) },
  },
});

async function change({ operator, path: here }: Context, verb: Change, id: string) {
  const { tenantId } = await operator.post<OperatorBroadcast>(`${path`/broadcasts/${id}`}/${verb}`);
  return { to: here, said: 'saved' as const, acted: { tenantId } };
}

function BroadcastTable({
  context,
  broadcasts: rows,
}: {
  context: Context;
  broadcasts: OperatorBroadcast[];
}) {
  const { sites, broadcasts, queue, frame } = context.texts;
  const { number } = context.formats;
  return (
    <Table
      context={context}
      caption={sites.broadcasts}
      rows={rows}
      keyOf={({ id }) => id}
      empty={context.query.size > 0 ? frame.noMatch : undefined}
      columns={[
        { label: sites.broadcastId, cell: ({ id }) => <code>{id}</code> },
        {
          label: broadcasts.status,
          cell: ({ status }) => <Status tone={BROADCAST_TONES[status]}>{broadcasts.statuses[status]}</Status>,
        },
        { label: sites.from, cell: ({ from }) => <Foreign text={from} /> },
        ...(['recipients', 'waiting', 'delivered', 'bounced'] as const).map((name) => ({
          label: broadcasts.counts[name],
          isNumeric: true,
          cell: ({ counts }: OperatorBroadcast) => number(counts[name]),
        })),
        { label: queue.tenant, cell: ({ tenantId }) => <TenantLink id={tenantId} /> },
        { label: queue.mode, cell: ({ mode }) => frame[mode] },
        { label: broadcasts.created, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
        { label: frame.actions, cell: (row) => <Changes context={context} row={row} /> },
      ]}
    />
  );
}

function Changes({ context, row: { id, status } }: { context: Context; row: OperatorBroadcast }) {
  const { broadcasts } = context.texts;
  return (
    <>
      {(CHANGES[status] ?? []).map((verb) => {
        const label = `${broadcasts[verb]}: ${id}`;
        const button = { context, action: verb, submit: broadcasts[verb], label, fields: { id } };
        if (verb !== 'cancel') return <ActionButton key={verb} {...button} />;
        return (
          <Disclosure key={verb} label={broadcasts.cancel}>
            <p>{broadcasts.cancelText}</p>
            <ActionButton {...button} isDangerous />
          </Disclosure>
        );
      })}
    </>
  );
}
