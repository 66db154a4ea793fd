/** The log of the requests that API keys have made. */
import type { Static } from 'typebox';
import type { requestSchema } from '../../request-log/schemas.ts';
import { Foreign, Heading, Status, Time } from '../frame/elements.tsx';
import type { Option } from '../frame/forms.tsx';
import {
  FilterById,
  FilterField,
  FilterSelect,
  Filters,
  Pager,
  pageQueryOf,
  Table,
} from '../frame/lists.tsx';
import { definePage, type TenantContext } from '../page.ts';
import { KeyLink, listKeys } from './keys/choice.tsx';

type Requests = { data: readonly Static<typeof requestSchema>[]; hasMore: boolean };

const CLASSES = ['2xx', '3xx', '4xx', '5xx'] as const;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** First status that is an error. */
const FIRST_ERROR = 400;

export const requestsPage = definePage({
  area: 'tenant',
  path: '/requests',
  menu: { group: 'sending', label: ({ requests }) => requests.title },
  async show(context) {
    const { api, query, texts } = context;
    const page = await api.get<Requests>(
      '/request-log',
      pageQueryOf(query, ['status', 'method', 'keyId', 'path']),
    );
    const keys = await listKeys(context);
    return {
      title: texts.requests.title,
      body: (
        <>
          <Heading title={texts.requests.title} />
          <p class="muted">{texts.requests.help}</p>
          <RequestFilters context={context} keys={keys} />
          <RequestTable context={context} requests={page.data} keys={keys} />
          <Pager context={context} page={page} />
        </>
      ),
    };
  },
});

type KeysProps = { context: TenantContext; keys: readonly Option[] | undefined };

function RequestFilters({ context, keys }: KeysProps) {
  const { requests } = context.texts;
  const same = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
  return (
    <Filters context={context}>
      <FilterSelect context={context} name="status" label={requests.status} options={same(CLASSES)} />
      <FilterSelect context={context} name="method" label={requests.method} options={same(METHODS)} />
      <FilterField context={context} name="path" label={requests.pathBegins} />
      <FilterById
        context={context}
        name="keyId"
        label={requests.key}
        idLabel={requests.keyId}
        things={keys}
      />
    </Filters>
  );
}

function RequestTable({ context, requests: rows, keys }: KeysProps & { requests: Requests['data'] }) {
  const { requests, frame } = context.texts;
  return (
    <Table
      context={context}
      caption={requests.title}
      rows={rows}
      keyOf={({ id }) => id}
      empty={context.query.size > 0 ? frame.noMatch : requests.none}
      columns={[
        { label: requests.at, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
        {
          label: requests.request,
          cell: ({ method, path }) => (
            <>
              {method} <Foreign text={path} />
            </>
          ),
        },
        {
          label: requests.status,
          cell: ({ status, errorType }) => (
            <>
              <Status tone={status < FIRST_ERROR ? 'good' : 'bad'}>{status}</Status>{' '}
              {errorType !== null && <code>{errorType}</code>}
            </>
          ),
        },
        {
          label: requests.duration,
          isNumeric: true,
          cell: ({ durationMs }) => `${context.formats.number(durationMs)} ms`,
        },
        { label: requests.client, cell: ({ clientAddress }) => clientAddress },
        {
          label: requests.key,
          cell: ({ keyId }) => (
            <KeyLink
              context={context}
              keyId={keyId}
              name={keys?.find(({ value }) => value === keyId)?.label}
            />
          ),
        },
        { label: requests.id, cell: ({ id }) => <code>{id}</code> },
      ]}
    />
  );
}
