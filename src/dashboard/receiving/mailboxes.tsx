/** The mailboxes of a tenant: the list, and the form for another one, whose password is shown once. */
import type { Static } from 'typebox';
import type { Form as Sent } from '../../http/pages/form-body.ts';
import type { createdMailboxSchema, mailboxSchema } from '../../mailboxes/schemas.ts';
import { BYTES_PER_MEGABYTE } from '../../tenants/stored-mail/store.ts';
import { Copyable, Foreign, Heading, Status, Time, type Tone } from '../frame/elements.tsx';
import { Disclosure, Field, Form, Select } from '../frame/forms.tsx';
import { FilterField, Filters, Pager, pageQueryOf, Table } from '../frame/lists.tsx';
import { definePage, fieldOf, linesOf, type TenantContext } from '../page.ts';
import { mailSettings } from './mail-settings.tsx';
import { Usage } from './usage.tsx';

export type Mailbox = Static<typeof mailboxSchema>;
type Mailboxes = { data: Mailbox[]; hasMore: boolean };
type Created = Static<typeof createdMailboxSchema>;

/** Colours of the states of a mailbox. */
const TONES: Record<Mailbox['status'], Tone> = { active: 'good', suspended: 'warning', damaged: 'bad' };

export const mailboxesPage = definePage({
  area: 'tenant',
  path: '/mailboxes',
  menu: { group: 'receiving', label: ({ mailboxes }) => mailboxes.title },
  async show(context) {
    const { api, query, texts } = context;
    const { mailboxes } = texts;
    const page = await api.get<Mailboxes>('/mailboxes', pageQueryOf(query, ['address', 'domain']));
    return {
      title: mailboxes.title,
      body: (
        <>
          <Heading title={mailboxes.title} />
          {context.can('write') && <NewMailbox context={context} />}
          <Filters context={context}>
            <FilterField context={context} name="address" label={mailboxes.address} />
            <FilterField context={context} name="domain" label={mailboxes.domain} />
          </Filters>
          <MailboxTable context={context} mailboxes={page.data} />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
  actions: {
    create: {
      logs: ['address', 'kind', 'members', 'quotaMegabytes'],
      async run(context, form) {
        const created = await context.api.post<Created>('/mailboxes', newMailboxOf(form));
        if (created.password === null) return { to: context.at(`/mailboxes/${created.id}`), said: 'created' };
        const { password } = created;
        return {
          title: context.texts.mailboxes.created,
          body: (
            <>
              <Heading title={context.texts.mailboxes.created} />
              <p>{context.texts.mailboxes.createdText}</p>
              <p>
                <Foreign text={created.address} />: <Copyable context={context} text={password} />
              </p>
              {await mailSettings(context, `/mailboxes/${created.id}`)}
              <p>
                <a href={context.at(`/mailboxes/${created.id}`)}>{context.texts.mailboxes.open}</a>
              </p>
            </>
          ),
        };
      },
    },
  },
});

/** Returns the mailbox that a form describes. Fields that were left empty get what the API gives them. */
function newMailboxOf(form: Sent) {
  const text = (name: string) => fieldOf(form, name).trim();
  const members = linesOf(form, 'members');
  return {
    address: text('address'),
    kind: text('kind'),
    ...(text('displayName') !== '' && { displayName: text('displayName') }),
    ...(text('password') !== '' && { password: fieldOf(form, 'password') }),
    ...(members.length > 0 && { members }),
    ...quotaOf(form),
  };
}

/** Returns the quota of a form, which is in megabytes there; none when the field was left empty. */
export function quotaOf(form: Sent): { quotaBytes?: number } {
  const megabytes = fieldOf(form, 'quotaMegabytes').trim();
  return megabytes === '' ? {} : { quotaBytes: Math.round(Number(megabytes) * BYTES_PER_MEGABYTE) };
}

function NewMailbox({ context }: { context: TenantContext }) {
  const { mailboxes } = context.texts;
  const field = { context, action: 'create' };
  const kinds = (['personal', 'shared'] as const).map((value) => ({ value, label: mailboxes.kinds[value] }));
  return (
    <Disclosure label={mailboxes.create} isOpen={context.failed?.action === 'create'}>
      <Form context={context} action="create" submit={mailboxes.create}>
        <Field
          {...field}
          name="address"
          type="email"
          label={mailboxes.address}
          help={mailboxes.addressHelp}
          isRequired
        />
        <Field {...field} name="displayName" label={mailboxes.displayName} />
        <Select {...field} name="kind" label={mailboxes.kind} help={mailboxes.kindHelp} options={kinds} />
        <Field {...field} name="members" label={mailboxes.members} help={mailboxes.membersHelp} rows={2} />
        <Field
          {...field}
          name="password"
          type="password"
          label={mailboxes.password}
          help={mailboxes.passwordHelp}
          autocomplete="new-password"
        />
        <Field
          {...field}
          name="quotaMegabytes"
          type="number"
          label={mailboxes.quota}
          help={mailboxes.quotaHelp}
        />
      </Form>
    </Disclosure>
  );
}

function MailboxTable({
  context,
  mailboxes: rows,
}: {
  context: TenantContext;
  mailboxes: readonly Mailbox[];
}) {
  const { mailboxes, frame } = context.texts;
  return (
    <Table
      context={context}
      caption={mailboxes.title}
      rows={rows}
      keyOf={({ id }) => id}
      empty={context.query.size > 0 ? frame.noMatch : mailboxes.none}
      columns={[
        {
          label: mailboxes.address,
          cell: ({ id, address }) => (
            <a href={context.at(`/mailboxes/${id}`)}>
              <Foreign text={address} />
            </a>
          ),
        },
        { label: mailboxes.displayName, cell: ({ displayName }) => <Foreign text={displayName} /> },
        { label: mailboxes.kind, cell: ({ kind }) => mailboxes.kinds[kind] },
        {
          label: mailboxes.status,
          cell: ({ status }) => <MailboxStatus context={context} status={status} />,
        },
        { label: mailboxes.usage, cell: (mailbox) => <Usage context={context} mailbox={mailbox} /> },
        { label: mailboxes.lastLogin, cell: (row) => <Time context={context} at={row.lastLoginAt} /> },
      ]}
    />
  );
}

/** The state of a mailbox as a word with a colour. */
export function MailboxStatus({ context, status }: { context: TenantContext; status: Mailbox['status'] }) {
  return <Status tone={TONES[status]}>{context.texts.mailboxes.statuses[status]}</Status>;
}
