/** The page with the outcome for each contact of a broadcast. */
import type { Static } from 'typebox';
import type { RecipientView } from '../../../broadcasts/recipients/schemas.ts';
import type { exportSchema } from '../../../exports/schemas.ts';
import { Foreign, Heading, Status, Time, type Tone } from '../../frame/elements.tsx';
import { ActionButton } from '../../frame/forms.tsx';
import { FilterSelect, Filters, Pager, pageQueryOf, Table } from '../../frame/lists.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { broadcastPath, getBroadcast } from './facts.tsx';

type Recipients = { data: RecipientView[]; hasMore: boolean };

const TONES: Record<RecipientView['status'], Tone> = {
  waiting: 'neutral',
  queued: 'neutral',
  delivered: 'good',
  bounced: 'bad',
  suppressed: 'warning',
  optedOut: 'warning',
  canceled: 'warning',
  failed: 'bad',
};
const STATUSES = Object.keys(TONES) as RecipientView['status'][];

export const recipientsPage = definePage({
  area: 'tenant',
  path: '/broadcasts/:broadcastId/recipients',
  async show(context) {
    const { api, query, texts, at } = context;
    const { broadcasts } = texts;
    const broadcast = await getBroadcast(context);
    const asked = pageQueryOf(query, ['status']);
    const page = await api.get<Recipients>(`${broadcastPath(context)}/recipients`, asked);
    const rows = page.data.map((row) => ({ ...row, id: row.contactId }));
    const options = STATUSES.map((value) => ({ value, label: broadcasts.counts[value] }));
    return {
      title: `${broadcasts.recipients}: ${broadcast.subject}`,
      body: (
        <>
          <Heading title={broadcasts.recipients}>
            <a href={at(`/broadcasts/${broadcast.id}`)}>{broadcasts.back}</a>
            <ActionButton
              context={context}
              action="export"
              submit={broadcasts.export}
              fields={{ status: query.get('status') ?? '' }}
            />
          </Heading>
          <p>
            <Foreign text={broadcast.subject} />
          </p>
          <Filters context={context}>
            <FilterSelect context={context} name="status" label={broadcasts.status} options={options} />
          </Filters>
          <RecipientTable context={context} audienceId={broadcast.audienceId} recipients={rows} />
          <Pager context={context} page={{ data: rows, hasMore: page.hasMore }} />
        </>
      ),
    };
  },
  actions: {
    export: {
      logs: ['status'],
      needs: 'read',
      async run(context, form) {
        const status = fieldOf(form, 'status');
        const { id } = await context.api.post<Static<typeof exportSchema>>(
          `${broadcastPath(context)}/recipients/exports`,
          status === '' ? {} : { status },
        );
        return { to: context.at(`/exports/${id}`) };
      },
    },
  },
});

type TableProps = { context: TenantContext; audienceId: string; recipients: RecipientView[] };

function RecipientTable({ context, audienceId, recipients }: TableProps) {
  const { texts, at } = context;
  const { broadcasts } = texts;
  const time = (name: 'openedAt' | 'clickedAt') => ({
    label: broadcasts[name],
    cell: (row: RecipientView) => (row[name] === null ? '' : <Time context={context} at={row[name]} />),
  });
  return (
    <Table
      context={context}
      caption={broadcasts.recipients}
      rows={recipients}
      keyOf={({ contactId }) => contactId}
      empty={broadcasts.noRecipients}
      columns={[
        {
          label: broadcasts.email,
          cell: ({ contactId, email }) => (
            <a href={at(`/audiences/${audienceId}/contacts/${contactId}`)}>
              <Foreign text={email} />
            </a>
          ),
        },
        {
          label: broadcasts.status,
          cell: ({ status, emailId }) => {
            const shown = <Status tone={TONES[status]}>{broadcasts.counts[status]}</Status>;
            return emailId === null ? shown : <a href={at(`/emails/${emailId}`)}>{shown}</a>;
          },
        },
        { label: broadcasts.reason, cell: ({ reason }) => <Foreign text={reason} /> },
        time('openedAt'),
        time('clickedAt'),
        { label: broadcasts.changedAt, cell: ({ changedAt }) => <Time context={context} at={changedAt} /> },
      ]}
    />
  );
}
