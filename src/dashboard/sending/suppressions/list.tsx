/** The suppressed addresses of a tenant, which are shared by both modes. */
import type { Static } from 'typebox';
import { path } from '../../../http/json/calls.ts';
import type { pageSchema } from '../../../http/json/page.ts';
import type { suppressionSchema } from '../../../suppressions/schemas.ts';
import { Foreign, Heading, Status, Time, type Tone } from '../../frame/elements.tsx';
import { Disclosure, Form } from '../../frame/forms.tsx';
import { FilterField, FilterSelect, Filters, Pager, readList, Table } from '../../frame/lists.tsx';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';

type Suppression = Static<typeof suppressionSchema>;
type Suppressions = Static<ReturnType<typeof pageSchema<typeof suppressionSchema>>>;

const TONES: Record<Suppression['reason'], Tone> = {
  manual: 'neutral',
  bounce: 'bad',
  complaint: 'bad',
  unsubscribe: 'warning',
};

export const suppressionsPage = definePage({
  area: 'tenant',
  path: '/suppressions',
  menu: { group: 'sending', label: ({ suppressions }) => suppressions.title },
  async show(context) {
    const { suppressions } = context.texts;
    const { page, refusal } = await readList<Suppressions>(context, '/suppressions', ['email', 'reason']);
    return {
      title: suppressions.title,
      body: (
        <>
          <Heading title={suppressions.title}>
            {context.can('write') && (
              <a class="button" href={context.at('/suppressions/add')}>
                {suppressions.add}
              </a>
            )}
            <a href={context.at('/suppressions/files')}>{suppressions.files}</a>
          </Heading>
          <p>{suppressions.text}</p>
          <Filters context={context} refusal={refusal}>
            <FilterField context={context} name="email" label={suppressions.email} />
            <FilterSelect
              context={context}
              name="reason"
              label={suppressions.reason}
              options={reasonOptions(context)}
            />
          </Filters>
          <SuppressionTable context={context} rows={page.data} />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
  actions: {
    delete: {
      logs: ['id'],
      async run(context, form) {
        await context.api.delete(path`/suppressions/${fieldOf(form, 'id')}`);
        return {
          to: context.path + (context.query.size > 0 ? `?${context.query}` : ''),
          said: 'allowedAgain',
        };
      },
    },
  },
});

/** Returns the reasons as the options of a choice. */
export function reasonOptions({ texts: { suppressions } }: TenantContext) {
  return Object.entries(suppressions.reasons).map(([value, label]) => ({ value, label }));
}

function SuppressionTable({ context, rows }: { context: TenantContext; rows: readonly Suppression[] }) {
  const { suppressions, frame } = context.texts;
  const actions = {
    label: frame.actions,
    cell: (row: Suppression) => <Removal context={context} suppression={row} />,
  };
  return (
    <Table
      context={context}
      caption={suppressions.title}
      rows={rows}
      keyOf={({ id }) => id}
      empty={context.query.size > 0 ? frame.noMatch : suppressions.none}
      columns={[
        { label: suppressions.email, cell: ({ email }) => <Foreign text={email} /> },
        {
          label: suppressions.reason,
          cell: ({ reason }) => <Status tone={TONES[reason]}>{suppressions.reasons[reason]}</Status>,
        },
        {
          label: suppressions.source,
          cell: ({ sourceEmailId, diagnostic }) => (
            <>
              {sourceEmailId !== null && (
                <a href={context.at(`/emails/${sourceEmailId}`)}>{suppressions.sourceEmail}</a>
              )}{' '}
              <Foreign text={diagnostic} />
            </>
          ),
        },
        { label: suppressions.createdAt, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
        ...(context.can('write') ? [actions] : []),
      ]}
    />
  );
}

function Removal({ context, suppression }: { context: TenantContext; suppression: Suppression }) {
  const { suppressions, frame } = context.texts;
  const { id, email, reason } = suppression;
  return (
    <Disclosure label={frame.delete}>
      <p>{suppressions.deleteText[reason]}</p>
      <Form
        context={context}
        action="delete"
        submit={suppressions.deleteNow}
        label={`${suppressions.deleteNow}: ${email}`}
        about={{ id }}
        isDangerous
      >
        {null}
      </Form>
    </Disclosure>
  );
}
