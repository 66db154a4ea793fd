/** An audience: its contacts, with filters, and the ways to more of them. */
import type { Static } from 'typebox';
import { CONTACT_STATUSES, type ShownContact } from '../../../audiences/contacts/schemas.ts';
import { TEXT_FIELD_NAMES } from '../../../audiences/contacts/text-fields.ts';
import type { exportSchema } from '../../../exports/schemas.ts';
import { path } from '../../../http/json/calls.ts';
import { Foreign, Heading, Status, Time, type Tone } from '../../frame/elements.tsx';
import { Disclosure, Form, Select } from '../../frame/forms.tsx';
import { FilterField, FilterSelect, Filters, Pager, pageQueryOf, Table } from '../../frame/lists.tsx';
import { createdWithin } from '../../local-time.ts';
import { definePage, fieldOf, type TenantContext } from '../../page.ts';
import { Choice, chosenId, listNewest, type NamedPage, optionsOf } from '../choices.tsx';
import type { Audience } from './list.tsx';

/** Colours of the states of a contact. */
export const CONTACT_TONES: Record<ShownContact['status'], Tone> = {
  subscribed: 'good',
  unsubscribed: 'bad',
  pending: 'warning',
};

type Contacts = { data: ShownContact[]; hasMore: boolean };
type Segment = { id: string; name: string };

export const audiencePage = definePage({
  area: 'tenant',
  path: '/audiences/:audienceId',
  async show(context) {
    const { api, query, formats, texts } = context;
    const audience = await api.get<Audience>(pathOf(context));
    const page = await api.get<Contacts>(`${pathOf(context)}/contacts`, {
      ...pageQueryOf(query, ['email', 'status']),
      ...createdWithin(query, formats.timeZone),
    });
    const segments = await listNewest<Segment>(api, '/segments', { audienceId: audience.id });
    return {
      title: audience.name,
      body: (
        <>
          <Ways context={context} audience={audience} segments={segments} />
          <p>
            {texts.audiences.contacts}: {formats.number(audience.contactCount)}
          </p>
          <ContactFilters context={context} />
          <ContactTable context={context} contacts={page.data} />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
  actions: {
    export: {
      logs: ['segmentId', 'unsubscribed'],
      needs: 'read',
      async run(context, form) {
        const { api, at } = context;
        const segmentId = await chosenId(api, {
          field: 'segmentId',
          text: fieldOf(form, 'segmentId').trim(),
          lists: [
            { path: '/segments', prefix: 'seg', query: () => ({ audienceId: context.params['audienceId'] }) },
          ],
        });
        const whom = fieldOf(form, 'unsubscribed');
        const { id } = await api.post<Static<typeof exportSchema>>(`${pathOf(context)}/contacts/exports`, {
          ...(segmentId !== null && { segmentId }),
          ...(whom !== '' && { unsubscribed: whom === 'true' }),
        });
        return { to: at(`/exports/${id}`) };
      },
    },
  },
});

function pathOf({ params }: TenantContext): string {
  return path`/audiences/${params['audienceId'] ?? ''}`;
}

type WaysProps = { context: TenantContext; audience: Audience; segments: NamedPage<Segment> };

/** Links to everything that is done with an audience. */
function Ways({ context, audience: { id, name }, segments }: WaysProps) {
  const { texts, at, can } = context;
  const { audiences } = texts;
  return (
    <Heading title={name}>
      {can('write') && <a href={at(`/audiences/${id}/contacts/new`)}>{audiences.newContact}</a>}
      {can('write') && <a href={at(`/audiences/${id}/import`)}>{audiences.import}</a>}
      <a href={at(`/segments?audienceId=${id}`)}>{audiences.segments}</a>
      {can('write') && <a href={at(`/broadcasts/new?audienceId=${id}`)}>{audiences.newBroadcast}</a>}
      {can('write') && <a href={at(`/audiences/${id}/settings`)}>{audiences.settings}</a>}
      <Export context={context} segments={segments} />
    </Heading>
  );
}

function Export({ context, segments }: Pick<WaysProps, 'context' | 'segments'>) {
  const { audiences } = context.texts;
  const field = { context, action: 'export' };
  return (
    <Disclosure label={audiences.export} isOpen={context.failed?.action === 'export'}>
      <Form context={context} action="export" submit={audiences.export}>
        <p>{audiences.exportText}</p>
        <Choice
          {...field}
          name="segmentId"
          label={audiences.segment}
          value=""
          none={audiences.wholeAudience}
          options={optionsOf(segments.data)}
          hasMore={segments.hasMore}
        />
        <Select
          {...field}
          name="unsubscribed"
          label={audiences.exportWhom}
          options={[
            { value: '', label: audiences.exportAll },
            { value: 'false', label: audiences.exportSubscribed },
            { value: 'true', label: audiences.exportUnsubscribed },
          ]}
        />
      </Form>
    </Disclosure>
  );
}

function ContactFilters({ context }: { context: TenantContext }) {
  const { audiences } = context.texts;
  const options = CONTACT_STATUSES.map((value) => ({ value, label: audiences.statuses[value] }));
  return (
    <Filters context={context}>
      <FilterField context={context} name="email" label={audiences.email} />
      <FilterSelect context={context} name="status" label={audiences.status} options={options} />
      <FilterField context={context} name="since" label={audiences.since} type="date" />
      <FilterField context={context} name="until" label={audiences.until} type="date" />
    </Filters>
  );
}

type ContactTableProps = { context: TenantContext; contacts: ShownContact[]; empty?: string };

/** A table of contacts, each with a link to its page. */
export function ContactTable({ context, contacts, empty }: ContactTableProps) {
  const { texts, at, query } = context;
  const { audiences, frame } = texts;
  return (
    <Table
      context={context}
      caption={audiences.contacts}
      rows={contacts}
      keyOf={({ id }) => id}
      empty={empty ?? (query.size > 0 ? frame.noMatch : audiences.noContacts)}
      columns={[
        {
          label: audiences.email,
          cell: ({ audienceId, id, email }) => (
            <a href={at(`/audiences/${audienceId}/contacts/${id}`)}>
              <Foreign text={email} />
            </a>
          ),
        },
        ...TEXT_FIELD_NAMES.map((name) => ({
          label: audiences.fields[name],
          cell: (contact: ShownContact) => <Foreign text={contact[name]} />,
        })),
        {
          label: audiences.status,
          cell: ({ status }) => <Status tone={CONTACT_TONES[status]}>{audiences.statuses[status]}</Status>,
        },
        { label: audiences.added, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
      ]}
    />
  );
}
