/** The people who operate the installation, and the link that invites another one. */
import { notFound } from '../../system/errors.ts';
import { Foreign, Heading } from '../frame/elements.tsx';
import { ActionButton, Disclosure, Field, Form } from '../frame/forms.tsx';
import { Pager, pageIn, Table } from '../frame/lists.tsx';
import { OpenLinks } from '../frame/open-links.tsx';
import { renewOwnSession } from '../own-session.ts';
import { definePage, fieldOf } from '../page.ts';
import { nameAndAddress, namesOfLink, readEmail } from '../people/fields.ts';
import { makeLoginLink } from '../people/invite.ts';
import { listOpenLinks, withdrawLink } from '../people/links-store.ts';
import { endOperator, listOperators } from '../people/store.ts';
import { newLinkView } from './new-link.tsx';

/** Number of operators on a page. */
const SHOWN = 50;

export const operatorsPage = definePage({
  area: 'operator',
  path: '/people',
  menu: { group: 'operating', label: ({ operators }) => operators.title },
  async show(context) {
    const { app, texts } = context;
    const { operators, frame } = texts;
    const page = pageIn(await listOperators(app.db.read), context.query, SHOWN);
    const open = await listOpenLinks(app.db.read, { tenantId: null, now: app.clock.now() });
    const field = { context, action: 'invite', isRequired: true };
    return {
      title: operators.title,
      body: (
        <>
          <Heading title={operators.title} />
          <p>{operators.text}</p>
          <Table
            context={context}
            caption={operators.title}
            rows={page.data}
            keyOf={({ id }) => id}
            columns={[
              { label: operators.name, cell: ({ name }) => <Foreign text={name} /> },
              { label: operators.email, cell: ({ email }) => <bdi>{email}</bdi> },
              {
                label: frame.actions,
                cell: ({ id, email }) => (
                  <Disclosure label={operators.remove}>
                    <ActionButton
                      context={context}
                      action="remove"
                      submit={operators.remove}
                      label={`${operators.remove}: ${email}`}
                      about={{ id }}
                      isDangerous
                    />
                  </Disclosure>
                ),
              },
            ]}
          />
          <Pager context={context} page={page} isOrdered />
          <h2>{operators.invite}</h2>
          <Form context={context} action="invite" submit={operators.invite}>
            <Field {...field} name="email" type="email" label={operators.email} autocomplete="off" />
          </Form>
          <h2>{texts.team.open}</h2>
          <OpenLinks context={context} links={open} />
        </>
      ),
    };
  },
  actions: {
    invite: {
      logs: ['email'],
      async run(context, form) {
        const { app, person, texts } = context;
        const link = await makeLoginLink(app, {
          kind: 'invitation',
          email: readEmail(fieldOf(form, 'email')),
          tenantId: null,
          role: null,
          isOperator: 1,
          personId: null,
          madeBy: person.email,
          makerId: person.id,
        });
        return newLinkView(context, { link, back: texts.operators.title });
      },
    },
    withdraw: {
      logs: ['id'],
      async names({ app }, form) {
        const open = await listOpenLinks(app.db.read, { tenantId: null, now: app.clock.now() });
        return namesOfLink(open, fieldOf(form, 'id'));
      },
      async run({ app, path }, form) {
        const link = { id: fieldOf(form, 'id'), tenantId: null };
        if (!(await app.db.commit(withdrawLink, link))) throw notFound('Invitation');
        return { to: path, said: 'withdrawn' };
      },
    },
    remove: {
      logs: ['id'],
      async names({ app }, form) {
        const operators = await listOperators(app.db.read);
        const operator = operators.find(({ id }) => id === fieldOf(form, 'id'));
        return operator ? { person: nameAndAddress(operator) } : {};
      },
      async run(context, form) {
        const { app, path, person } = context;
        const id = fieldOf(form, 'id');
        await app.db.commit(endOperator, id);
        await renewOwnSession(context, id);
        return { to: person.id === id ? '/' : path, said: 'saved' };
      },
    },
  },
});
