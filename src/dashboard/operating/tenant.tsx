/** One tenant as the operator sees it: its plan, its people, and whether it may send. */

import { path } from '../../http/json/calls.ts';
import type { Plan } from '../../tenants/admin-schemas.ts';
import { Copyable, Facts, Foreign, Heading, Time } from '../frame/elements.tsx';
import { ActionButton, Disclosure, Field, Form, Select } from '../frame/forms.tsx';
import { Pager, pageIn, Table } from '../frame/lists.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { readEmail } from '../people/fields.ts';
import { makeLoginLink } from '../people/invite.ts';
import { listMembers } from '../people/memberships-store.ts';
import { findShownTenant } from './find-tenant.ts';
import { newLinkView } from './new-link.tsx';
import { type Tenant, TenantStatus } from './tenants.tsx';

/** Number of members on a page. */
const SHOWN_MEMBERS = 50;

type Props = { context: Contexts['operator']; tenant: Tenant };

export const tenantPage = definePage({
  area: 'operator',
  path: '/tenants/:id',
  async show(context) {
    const { operator, texts } = context;
    const { tenants } = texts;
    const tenant = await findShownTenant(context);
    const plans = await operator.get<Plan[]>('/plans');
    const options = plans.map(({ name }) => ({ value: name, label: name }));
    const facts = [
      [tenants.id, <Copyable key="" context={context} text={tenant.id} />],
      [tenants.status, <TenantStatus key="" context={context} status={tenant.status} />],
      [tenants.plan, tenant.plan],
      [tenants.createdAt, <Time key="" context={context} at={tenant.createdAt} />],
    ] as const;
    const plan = { context, action: 'plan', name: 'plan', label: tenants.plan, value: tenant.plan };
    return {
      title: tenant.name,
      body: (
        <>
          <Heading title={tenant.name}>
            <a href="/operator/tenants">{tenants.title}</a>
            <a href={`/operator/queue/mail?tenant=${tenant.id}`}>{tenants.mail}</a>
            <a href={`${context.path}/delete`}>{tenants.delete}</a>
          </Heading>
          <Facts facts={facts} />
          <Form context={context} action="plan" submit={tenants.setPlan}>
            <Select {...plan} options={options} />
          </Form>
          <Switch context={context} tenant={tenant} />
          {await people({ context, tenant })}
        </>
      ),
    };
  },
  actions: {
    plan: {
      logs: ['plan'],
      async run(context, form) {
        const { id: tenantId } = await findShownTenant(context);
        await context.operator.patch(path`/tenants/${tenantId}`, { plan: fieldOf(form, 'plan') });
        return { to: context.path, said: 'saved', acted: { tenantId } };
      },
    },
    suspend: { run: (context) => change(context, 'suspend') },
    resume: { run: (context) => change(context, 'resume') },
    invite: {
      logs: ['email'],
      async run(context, form) {
        const { app, person, texts } = context;
        const { id } = await findShownTenant(context);
        const link = await makeLoginLink(app, {
          kind: 'invitation',
          email: readEmail(fieldOf(form, 'email')),
          tenantId: id,
          role: 'owner',
          isOperator: 0,
          personId: null,
          madeBy: person.email,
          makerId: person.id,
        });
        return { ...newLinkView(context, { link, back: texts.tenants.back }), acted: { tenantId: id } };
      },
    },
  },
});

async function change(context: Props['context'], verb: 'suspend' | 'resume') {
  const { id: tenantId } = await findShownTenant(context);
  await context.operator.post(`${path`/tenants/${tenantId}`}/${verb}`);
  return { to: context.path, said: 'saved' as const, acted: { tenantId } };
}

function Switch({ context, tenant: { status } }: Props) {
  const { tenants } = context.texts;
  if (status === 'deleting') return null;
  if (status === 'suspended') {
    return (
      <section class="notice">
        <p>{tenants.resumeText}</p>
        <ActionButton context={context} action="resume" submit={tenants.resume} />
      </section>
    );
  }
  return (
    <Disclosure label={tenants.suspend}>
      <p>{tenants.suspendText}</p>
      <ActionButton context={context} action="suspend" submit={tenants.suspend} isDangerous />
    </Disclosure>
  );
}

async function people({ context, tenant }: Props) {
  const { tenants } = context.texts;
  const members = await listMembers(context.app.db.read, tenant.id);
  const page = pageIn(members.reverse(), context.query, SHOWN_MEMBERS);
  return (
    <>
      <h2>{tenants.members}</h2>
      <Table
        context={context}
        caption={tenants.members}
        rows={page.data}
        keyOf={({ id }) => id}
        empty={tenants.noMembers}
        columns={[
          { label: tenants.name, cell: ({ name }) => <Foreign text={name} /> },
          { label: tenants.email, cell: ({ email }) => <bdi>{email}</bdi> },
          { label: tenants.role, cell: ({ role }) => tenants.roles[role] },
        ]}
      />
      <Pager context={context} page={page} />
      <Form context={context} action="invite" submit={tenants.invite}>
        <Field context={context} action="invite" isRequired name="email" type="email" label={tenants.email} />
      </Form>
    </>
  );
}
