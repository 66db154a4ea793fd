/** The tenants that a person belongs to, each of which it may leave, and the end of its account. */

import { notFound } from '../../system/errors.ts';
import { Foreign } from '../frame/elements.tsx';
import { ActionButton, Disclosure, Form } from '../frame/forms.tsx';
import { tenantPath } from '../frame/layout.tsx';
import { Pager, pageIn, Table } from '../frame/lists.tsx';
import { renewOwnSession } from '../own-session.ts';
import { fieldOf, type PageDefinition, type PersonContext } from '../page.ts';
import type { Membership } from '../people/memberships-store.ts';
import { soleTenant } from '../people/memberships-store.ts';
import { deletePerson, removeMember } from '../people/store.ts';
import { Confirmation } from './confirmation.tsx';

/** Number of tenants on a page. */
const SHOWN = 20;

type Props = { context: PersonContext };

export const tenantActions = {
  leave: {
    logs: ['tenant'],
    async run(context, form) {
      const { app, person, memberships } = context;
      const left = memberships.find(({ tenantId }) => tenantId === fieldOf(form, 'tenant'));
      if (!left) throw notFound('Tenant');
      await app.db.commit(removeMember, { tenantId: left.tenantId, personId: person.id });
      const isThere = await renewOwnSession(context, person.id);
      return { to: isThere ? '/account' : '/login', said: 'left', acted: { tenantId: left.tenantId } };
    },
  },
  deleteAccount: {
    async run(context, form) {
      const { app, person, setSession } = context;
      await app.people.confirm(context, fieldOf(form, 'password'));
      await app.db.commit(deletePerson, person.id);
      setSession(undefined);
      return { to: '/login', said: 'accountDeleted' };
    },
  },
} satisfies PageDefinition<'account'>['actions'];

/** The tenants of the person with its role in each. */
export function Tenants({ context }: Props) {
  const { account, frame, team } = context.texts;
  const rows = context.memberships.map((membership) => ({ ...membership, id: membership.tenantId }));
  const page = pageIn(rows, context.query, SHOWN);
  return (
    <section aria-labelledby="tenants">
      <h2 id="tenants">{account.tenants}</h2>
      <Table
        context={context}
        caption={account.tenantsCaption}
        rows={page.data}
        keyOf={({ id }) => id}
        empty={account.noTenants}
        columns={[
          {
            label: account.tenant,
            cell: ({ tenantName }) => (
              <a href={tenantPath(tenantName, 'live')}>
                <Foreign text={tenantName} />
              </a>
            ),
          },
          { label: account.role, cell: ({ role }) => team.roles[role] },
          { label: frame.actions, cell: (membership) => <Leave context={context} membership={membership} /> },
        ]}
      />
      <Pager context={context} page={page} isOrdered />
    </section>
  );
}

function Leave({ context, membership }: Props & { membership: Membership }) {
  const { account } = context.texts;
  const { tenantId, tenantName } = membership;
  const { person, memberships } = context;
  const isOpen = context.failed?.action === 'leave' && fieldOf(context.failed.form, 'tenant') === tenantId;
  return (
    <Disclosure label={account.leave} isOpen={isOpen}>
      <p>{account.leaveText(tenantName)}</p>
      {soleTenant(person, memberships) !== null && <p>{account.leaveLast}</p>}
      <ActionButton
        context={context}
        action="leave"
        submit={account.leave}
        label={`${account.leave}: ${tenantName}`}
        about={{ tenant: tenantId }}
        isDangerous
      />
    </Disclosure>
  );
}

/** The question before the person is deleted. */
export function DeleteAccount({ context }: Props) {
  const { account } = context.texts;
  return (
    <section aria-labelledby="delete">
      <h2 id="delete">{account.delete}</h2>
      <Disclosure label={account.delete} isOpen={context.failed?.action === 'deleteAccount'}>
        <Form context={context} action="deleteAccount" submit={account.delete} isDangerous>
          <p>{account.deleteText}</p>
          <Confirmation context={context} />
        </Form>
      </Disclosure>
    </section>
  );
}
