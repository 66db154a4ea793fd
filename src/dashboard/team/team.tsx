/** The people of a tenant: its members with their roles, and invitations. Only owners change them. */
import type { Role } from '../../db/people-tables.ts';
import type { Form as SentForm } from '../../http/pages/form-body.ts';
import { invalid, notFound } from '../../system/errors.ts';
import { Copyable, Foreign, Heading, Status } from '../frame/elements.tsx';
import { ActionButton, Disclosure, Field, Form, Select } from '../frame/forms.tsx';
import { Pager, pageIn, Table } from '../frame/lists.tsx';
import { OpenLinks } from '../frame/open-links.tsx';
import { originOf } from '../origin.ts';
import { renewOwnSession } from '../own-session.ts';
import { definePage, fieldOf, type TenantContext } from '../page.ts';
import { nameAndAddress, namesOfLink, readEmail } from '../people/fields.ts';
import { makeLoginLink } from '../people/invite.ts';
import { listOpenLinks, withdrawLink } from '../people/links-store.ts';
import { listMembers, type Member, setRole } from '../people/memberships-store.ts';
import { removeMember } from '../people/store.ts';

/** Number of members on a page: with the forms of each, and with the links, it stays within 100 kB. */
const SHOWN_MEMBERS = 20;

const ROLES: readonly Role[] = ['owner', 'admin', 'viewer'];

export const teamPage = definePage({
  area: 'tenant',
  path: '/team',
  menu: { group: 'settings', label: ({ team }) => team.title },
  async show(context) {
    const { app, tenant, texts } = context;
    const members = await listMembers(app.db.read, tenant.tenantId);
    const page = pageIn(members.reverse(), context.query, SHOWN_MEMBERS);
    return {
      title: texts.team.title,
      body: (
        <>
          <Heading title={texts.team.title} />
          <Members context={context} members={page.data} />
          <Pager context={context} page={page} />
          {context.can('manage') && (await invitations(context))}
        </>
      ),
    };
  },
  actions: {
    invite: {
      logs: ['email', 'role'],
      needs: 'manage',
      async run(context, form) {
        const { app, tenant, person, texts } = context;
        const path = await makeLoginLink(app, {
          kind: 'invitation',
          email: readEmail(fieldOf(form, 'email')),
          tenantId: tenant.tenantId,
          role: readRole(fieldOf(form, 'role')),
          isOperator: 0,
          personId: null,
          madeBy: person.email,
          makerId: person.id,
        });
        return { title: texts.team.linkTitle, body: <NewLink context={context} path={path} /> };
      },
    },
    withdraw: {
      logs: ['id'],
      async names({ app, tenant }, form) {
        const open = await listOpenLinks(app.db.read, { tenantId: tenant.tenantId, now: app.clock.now() });
        return namesOfLink(open, fieldOf(form, 'id'));
      },
      needs: 'manage',
      async run({ app, tenant, at }, form) {
        const link = { id: fieldOf(form, 'id'), tenantId: tenant.tenantId };
        if (!(await app.db.commit(withdrawLink, link))) throw notFound('Invitation');
        return { to: at('/team'), said: 'withdrawn' };
      },
    },
    role: {
      logs: ['id', 'role'],
      names: memberNames,
      needs: 'manage',
      async run(context, form) {
        const { app, tenant, at } = context;
        const role = readRole(fieldOf(form, 'role'));
        const personId = fieldOf(form, 'id');
        await app.db.commit(setRole, { tenantId: tenant.tenantId, personId, role });
        await renewOwnSession(context, personId);
        return { to: at('/team'), said: 'saved' };
      },
    },
    remove: {
      logs: ['id'],
      names: memberNames,
      needs: 'manage',
      async run(context, form) {
        const { app, tenant, at, person } = context;
        const member = { tenantId: tenant.tenantId, personId: fieldOf(form, 'id') };
        await app.db.commit(removeMember, member);
        const isThere = await renewOwnSession(context, member.personId);
        return member.personId === person.id
          ? { to: isThere ? '/account' : '/login', said: 'left' }
          : { to: at('/team'), said: 'removed' };
      },
    },
    recover: {
      logs: ['id'],
      names: memberNames,
      needs: 'manage',
      async run(context, form) {
        const { app, tenant, person, texts } = context;
        const member = await findMember(context, form);
        if (!member) throw notFound('Member');
        const path = await makeLoginLink(app, {
          kind: 'recovery',
          email: null,
          tenantId: tenant.tenantId,
          role: null,
          isOperator: 0,
          personId: member.id,
          madeBy: person.email,
          makerId: person.id,
        });
        return { title: texts.team.linkTitle, body: <NewLink context={context} path={path} /> };
      },
    },
  },
});

/** Returns the member that a form names. */
async function findMember({ app, tenant }: TenantContext, form: SentForm): Promise<Member | undefined> {
  const members = await listMembers(app.db.read, tenant.tenantId);
  return members.find(({ id }) => id === fieldOf(form, 'id'));
}

/** Returns the name of that member for the audit log, where the id alone says nothing once the person is gone. */
async function memberNames(context: TenantContext, form: SentForm): Promise<Record<string, string>> {
  const member = await findMember(context, form);
  return member ? { person: nameAndAddress(member) } : {};
}

function readRole(text: string): Role {
  const role = ROLES.find((one) => one === text);
  if (!role) throw invalid('role', '`role` must be owner, admin or viewer');
  return role;
}

function roleOptions({ texts: { team } }: TenantContext) {
  return ROLES.map((value) => ({ value, label: team.roles[value] }));
}

function Members({ context, members }: { context: TenantContext; members: readonly Member[] }) {
  const { team, frame } = context.texts;
  const actions = {
    label: frame.actions,
    cell: (member: Member) => <MemberActions context={context} member={member} />,
  };
  return (
    <Table
      context={context}
      caption={team.members}
      rows={members}
      keyOf={({ id }) => id}
      columns={[
        { label: team.name, cell: ({ name }) => <Foreign text={name} /> },
        { label: team.email, cell: ({ email }) => <bdi>{email}</bdi> },
        { label: team.role, cell: ({ role }) => team.roles[role] },
        {
          label: team.secondFactor,
          cell: ({ hasTotp }) => (
            <Status tone={hasTotp ? 'good' : 'neutral'}>{hasTotp ? frame.yes : frame.no}</Status>
          ),
        },
        ...(context.can('manage') ? [actions] : []),
      ]}
    />
  );
}

function MemberActions({ context, member }: { context: TenantContext; member: Member }) {
  const { team } = context.texts;
  const { id, email, role } = member;
  return (
    <Disclosure label={team.change}>
      <Form
        context={context}
        action="role"
        submit={team.setRole}
        label={`${team.setRole}: ${email}`}
        about={{ id }}
      >
        <label>
          {team.role}
          <select name="role">
            {roleOptions(context).map(({ value, label }) => (
              <option key={value} value={value} selected={value === role}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </Form>
      <div class="buttons">
        <ActionButton context={context} action="recover" submit={team.recover} about={{ id }} />
        <ActionButton context={context} action="remove" submit={team.remove} about={{ id }} isDangerous />
      </div>
    </Disclosure>
  );
}

async function invitations(context: TenantContext) {
  const { app, tenant, texts } = context;
  const { team } = texts;
  const field = { context, action: 'invite', isRequired: true };
  const now = app.clock.now();
  const open = await listOpenLinks(app.db.read, { tenantId: tenant.tenantId, now });
  return (
    <section aria-labelledby="invite">
      <h2 id="invite">{team.invite}</h2>
      <Form context={context} action="invite" submit={team.invite}>
        <Field {...field} name="email" type="email" label={team.email} autocomplete="off" />
        <Select {...field} name="role" label={team.role} value="admin" options={roleOptions(context)} />
      </Form>
      <h2>{team.open}</h2>
      <OpenLinks context={context} links={open} />
    </section>
  );
}

function NewLink({ context, path }: { context: TenantContext; path: string }) {
  const { team } = context.texts;
  return (
    <>
      <Heading title={team.linkTitle} />
      <p>{team.linkText}</p>
      <p>
        <Copyable context={context} text={originOf(context.app.config) + path} />
      </p>
      <p>
        <a href={context.at('/team')}>{team.back}</a>
      </p>
    </>
  );
}
