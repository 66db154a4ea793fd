/** The list of emails, with filters that stand in the address of the page. */
import type { Static } from 'typebox';
import { RECIPIENT_STATUSES, STATUSES } from '../../../emails/schemas.ts';
import type { emailPageSchema } from '../../../emails/show.ts';
import type { AppError } from '../../../system/errors.ts';
import { Foreign, Heading, Time } from '../../frame/elements.tsx';
import type { Option } from '../../frame/forms.tsx';
import { tenantPath } from '../../frame/layout.tsx';
import {
  FilterById,
  FilterField,
  FilterSelect,
  Filters,
  Pager,
  pageQueryOf,
  readListBy,
  Table,
} from '../../frame/lists.tsx';
import { createdWithin } from '../../local-time.ts';
import { definePage, type TenantContext } from '../../page.ts';
import { listKeys } from '../keys/choice.tsx';
import { EmailStatusMark } from './states.tsx';

type Emails = Static<typeof emailPageSchema>;

const FILTERS = ['status', 'recipientStatus', 'from', 'to', 'tag', 'apiKeyId'];

export const emailsPage = definePage({
  area: 'tenant',
  path: '/emails',
  menu: { group: 'sending', label: ({ emails }) => emails.title },
  async show(context) {
    const { api, query, formats, texts } = context;
    const asked = { ...pageQueryOf(query, FILTERS), ...createdWithin(query, formats.timeZone) };
    const [{ page, refusal }, keys] = await Promise.all([
      readListBy<Emails>(api, '/emails', asked),
      listKeys(context),
    ]);
    return {
      title: texts.emails.title,
      body: (
        <>
          <Heading title={texts.emails.title}>
            {context.can('write') && <a href={context.at('/send-test')}>{texts.emails.sendTest}</a>}
          </Heading>
          <EmailFilters context={context} refusal={refusal} keys={keys} />
          <EmailTable context={context} emails={page.data} />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
});

type FiltersProps = {
  context: TenantContext;
  refusal: AppError | undefined;
  keys: readonly Option[] | undefined;
};

function EmailFilters({ context, refusal, keys }: FiltersProps) {
  const { emails, requests } = context.texts;
  const key = { context, name: 'apiKeyId', label: requests.key, idLabel: requests.keyId };
  const options = STATUSES.map((value) => ({ value, label: emails.statuses[value] }));
  const ofRecipients = RECIPIENT_STATUSES.map((value) => ({ value, label: emails.recipientStatuses[value] }));
  const recipient = { context, name: 'recipientStatus', label: emails.recipientStatus };
  return (
    <Filters context={context} refusal={refusal}>
      <FilterSelect context={context} name="status" label={emails.status} options={options} />
      <FilterSelect {...recipient} options={ofRecipients} />
      <FilterField context={context} name="from" label={emails.from} />
      <FilterField context={context} name="to" label={emails.to} />
      <FilterField context={context} name="tag" label={emails.tag} />
      <FilterById {...key} things={keys} />
      <FilterField context={context} name="since" label={emails.since} type="date" />
      <FilterField context={context} name="until" label={emails.until} type="date" />
    </Filters>
  );
}

/** Whoever has sent a first email with a test key looks for it in the live mode, where logging in leads. */
function NoEmails({ context: { texts, mode, tenant } }: { context: TenantContext }) {
  const { emails } = texts;
  return (
    <>
      {emails.none}{' '}
      {mode === 'live' && <a href={`${tenantPath(tenant.tenantName, 'test')}/emails`}>{emails.ofTestKeys}</a>}
    </>
  );
}

/** A table of emails, each with a link to its page. */
export function EmailTable({ context, emails: rows }: { context: TenantContext; emails: Emails['data'] }) {
  const { emails, frame } = context.texts;
  return (
    <Table
      context={context}
      caption={emails.title}
      rows={rows}
      keyOf={({ id }) => id}
      empty={context.query.size > 0 ? frame.noMatch : <NoEmails context={context} />}
      columns={[
        {
          label: emails.subject,
          cell: ({ id, subject }) => (
            <a href={context.at(`/emails/${id}`)}>
              <Foreign text={subject} />
            </a>
          ),
        },
        { label: emails.to, cell: ({ to }) => <Foreign text={to.join(', ')} /> },
        { label: emails.from, cell: ({ from }) => <Foreign text={from} /> },
        {
          label: emails.status,
          cell: ({ status }) => <EmailStatusMark context={context} status={status} />,
        },
        { label: emails.createdAt, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
      ]}
    />
  );
}
