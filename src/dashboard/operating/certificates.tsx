/** The certificates in use: what each is for, when it ends, and what is wrong with its files or its order. */
import type { ShownCertificates } from '../../certificates/admin-api.ts';
import { type CertificateState, namesOf } from '../../certificates/show.ts';
import { path } from '../../http/json/calls.ts';
import { Copyable, Foreign, Heading, Status, Time, type Tone } from '../frame/elements.tsx';
import { ActionButton, Checkbox, Disclosure, Form } from '../frame/forms.tsx';
import { FilterField, Filters, NextPager, Table } from '../frame/lists.tsx';
import { type Acted, type Contexts, definePage, fieldOf } from '../page.ts';
import { aboutOwner } from './find-tenant.ts';

type Context = Contexts['operator'];
type Listed = ShownCertificates['certificates'][number];

/** Number of certificates on a page, which stays within 100 kB. */
const PAGE_SIZE = 30;

const TONES: Record<CertificateState, Tone> = {
  valid: 'good',
  expired: 'bad',
  missing: 'bad',
  ordered: 'warning',
  failing: 'warning',
};

export const certificatesPage = definePage({
  area: 'operator',
  path: '/certificates',
  menu: { group: 'operating', label: ({ certificates }) => certificates.title },
  async show(context) {
    const { operator, query, texts } = context;
    const { certificates } = texts;
    const name = (query.get('name') ?? '').trim();
    const asked = { name, limit: PAGE_SIZE, after: query.get('after') ?? '' };
    const found = await operator.get<ShownCertificates>('/certificates', asked);
    return {
      title: certificates.title,
      body: (
        <>
          <Heading title={certificates.title}>
            <ActionButton context={context} action="reload" submit={certificates.reload} />
          </Heading>
          <p>{certificates.text}</p>
          <Filters context={context}>
            <FilterField context={context} name="name" label={certificates.filter} />
          </Filters>
          <CertificateTable context={context} listed={found.certificates} />
          <NextPager context={context} next={found.next} />
          {context.app.config.acme.directory !== '' && (
            <Disclosure label={certificates.newAccount} isOpen={context.failed?.action === 'newAccount'}>
              <p>{certificates.newAccountText}</p>
              <ActionButton
                context={context}
                action="newAccount"
                submit={certificates.newAccount}
                isDangerous
              />
            </Disclosure>
          )}
        </>
      ),
    };
  },
  actions: {
    reload: {
      async run({ operator, path: here }) {
        await operator.post('/certificates/reload');
        return { to: here, said: 'filesRead' };
      },
    },
    renew: {
      logs: ['name', 'newKey'],
      async run({ operator, path: here }, form) {
        const newKey = fieldOf(form, 'newKey') === 'on';
        const address = `${path`/certificates/${fieldOf(form, 'name')}`}/renew?newKey=${newKey}`;
        const renewed = await operator.post<Pick<Acted, 'tenantId'>>(address);
        return { to: here, said: 'renewing', acted: aboutOwner(renewed) };
      },
    },
    newAccount: {
      async run({ operator, path: here }) {
        await operator.post('/certificates/new-account');
        return { to: here, said: 'saved' };
      },
    },
  },
});

function CertificateTable({ context, listed }: { context: Context; listed: readonly Listed[] }) {
  const { certificates, frame } = context.texts;
  return (
    <Table
      context={context}
      caption={certificates.title}
      rows={listed}
      keyOf={(one) => `${one.order?.name ?? one.certificate} ${one.keyType}`}
      empty={context.query.size > 0 ? frame.noMatch : certificates.none}
      columns={[
        {
          label: certificates.names,
          cell: (one) => <Foreign text={namesOf(one).join(', ') || certificates.noNames} />,
        },
        {
          label: certificates.state,
          cell: ({ state }) => <Status tone={TONES[state]}>{certificates.states[state]}</Status>,
        },
        { label: certificates.expires, cell: ({ expiresAt }) => <Time context={context} at={expiresAt} /> },
        { label: certificates.key, cell: (one) => <Key context={context} one={one} /> },
        { label: certificates.source, cell: (one) => <Source context={context} one={one} /> },
        { label: frame.actions, cell: (one) => <Renewal context={context} one={one} /> },
      ]}
    />
  );
}

type Props = { context: Context; one: Listed };

function Key({ context, one: { keyType, tlsa } }: Props) {
  if (keyType === null) return null;
  return (
    <>
      {keyType}
      {tlsa !== null && (
        <Disclosure label={context.texts.certificates.tlsa}>
          <Copyable context={context} text={tlsa} />
        </Disclosure>
      )}
    </>
  );
}

/** Where the certificate comes from, with what is wrong there and what helps. */
function Source({ context, one: { kind, certificate, problem, order } }: Props) {
  const { certificates } = context.texts;
  return (
    <>
      {certificates.kinds[kind]} <Foreign text={certificate ?? order?.authority} />
      {problem && (
        <p class="refused">
          <Foreign text={`${problem.file} ${problem.reason}`} /> {certificates.adviceFiles}
        </p>
      )}
      {order && order.lastError !== null && <OrderError context={context} order={order} />}
      {order && order.renewAt !== null && (
        <p>
          {certificates.renewedFrom} <Time context={context} at={order.renewAt} />
        </p>
      )}
    </>
  );
}

function OrderError({ context, order }: { context: Context; order: NonNullable<Listed['order']> }) {
  const { certificates } = context.texts;
  const { failures, lastError, lastErrorAt, nextAttemptAt } = order;
  return (
    <div class="refused">
      <p>
        <Foreign text={lastError} /> <Time context={context} at={lastErrorAt} />
        {failures > 0 && ` (${certificates.failures(context.formats.number(failures))})`}
      </p>
      <p>
        {failures > 0 ? certificates.adviceOrder : certificates.adviceRecords}{' '}
        <a href="/operator/dns">{certificates.records}</a>
      </p>
      {nextAttemptAt !== null && (
        <p>
          {certificates.next}: <Time context={context} at={nextAttemptAt} />
        </p>
      )}
    </div>
  );
}

function Renewal({ context, one: { order } }: Props) {
  const { certificates } = context.texts;
  if (!order) return null;
  return (
    <Disclosure label={certificates.renew}>
      <Form
        context={context}
        action="renew"
        submit={certificates.renew}
        label={`${certificates.renew}: ${order.name}`}
        about={{ name: order.name }}
      >
        <p>{certificates.renewText}</p>
        <Checkbox
          context={context}
          action="renew"
          name="newKey"
          label={certificates.newKey}
          help={certificates.newKeyHelp}
        />
      </Form>
    </Disclosure>
  );
}
