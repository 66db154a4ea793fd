/** The passkeys of a person: it adds, names and removes them. */
import type { PasskeyRow } from '../../db/people-tables.ts';
import { Foreign, Time } from '../frame/elements.tsx';
import { Disclosure, Field, Form } from '../frame/forms.tsx';
import { Table } from '../frame/lists.tsx';
import { CREDENTIAL_FIELD, PasskeyForm, passkeyOrigin } from '../frame/passkeys.tsx';
import { fieldOf, type PageDefinition, type PersonContext } from '../page.ts';
import { readName } from '../people/fields.ts';
import { addPasskey, listPasskeys, removePasskey, renamePasskey } from '../people/passkeys-store.ts';
import { Confirmation } from './confirmation.tsx';

type Props = { context: PersonContext };

export const passkeyActions = {
  passkeyAdd: {
    logs: ['name'],
    async run(context, form) {
      const { app, person, session, origin = '' } = context;
      await app.people.confirm(context, fieldOf(form, 'password'));
      const name = readName(fieldOf(form, 'name'));
      const made = await app.passkeys.register(fieldOf(form, CREDENTIAL_FIELD), {
        origin,
        owner: session.id,
      });
      await app.db.commit(addPasskey, { ...made, name, personId: person.id, session: session.id });
      return { to: '/account', said: 'passkeyAdded' };
    },
  },
  passkeyName: {
    logs: ['id', 'name'],
    async run({ app, person }, form) {
      const name = readName(fieldOf(form, 'name'));
      await app.db.commit(renamePasskey, { id: fieldOf(form, 'id'), personId: person.id, name });
      return { to: '/account', said: 'saved' };
    },
  },
  passkeyRemove: {
    logs: ['id'],
    async run(context, form) {
      const { app, person, session } = context;
      await app.people.confirm(context, fieldOf(form, 'password'));
      const passkey = { id: fieldOf(form, 'id'), personId: person.id };
      await app.db.commit(removePasskey, { ...passkey, endsOthersThan: session.id });
      return { to: '/account', said: 'passkeyRemoved' };
    },
  },
} satisfies PageDefinition<'account'>['actions'];

/** The part of the page about passkeys. */
export async function passkeySection(context: PersonContext) {
  const { passkeys, account, frame } = context.texts;
  const { app, person } = context;
  const rows = await listPasskeys(app.db.read, person.id);
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys">{passkeys.title}</h2>
      <p>{passkeys.text}</p>
      <noscript>
        <p>{passkeys.needScript}</p>
      </noscript>
      {rows.length > 0 && (
        <Table
          context={context}
          caption={passkeys.caption}
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            { label: passkeys.name, cell: ({ name }) => <Foreign text={name} /> },
            { label: account.since, cell: ({ createdAt }) => <Time context={context} at={createdAt} /> },
            { label: account.lastUsed, cell: ({ lastUsedAt }) => <Time context={context} at={lastUsedAt} /> },
            { label: frame.actions, cell: (passkey) => <Change context={context} passkey={passkey} /> },
          ]}
        />
      )}
      <Add context={context} existing={rows} />
    </section>
  );
}

function Add({ context, existing }: Props & { existing: readonly PasskeyRow[] }) {
  const { passkeys } = context.texts;
  const { app, person, session } = context;
  const origin = passkeyOrigin(context);
  if (origin === undefined) return <p>{passkeys.needName}</p>;
  const account = { handle: person.id, email: person.email, name: person.name };
  return (
    <PasskeyForm
      context={context}
      action="passkeyAdd"
      submit={passkeys.add}
      options={app.passkeys.creation({ origin, owner: session.id }, account, existing)}
    >
      <Field
        context={context}
        action="passkeyAdd"
        name="name"
        label={passkeys.name}
        help={passkeys.nameHelp}
        isRequired
      />
      <Confirmation context={context} />
    </PasskeyForm>
  );
}

function Change({ context, passkey: { id, name } }: Props & { passkey: PasskeyRow }) {
  const { passkeys, frame } = context.texts;
  const { failed } = context;
  const isOpen = failed !== undefined && fieldOf(failed.form, 'id') === id;
  return (
    <Disclosure label={passkeys.change} isOpen={isOpen}>
      <Form
        context={context}
        action="passkeyName"
        submit={frame.save}
        label={`${passkeys.name}: ${name} (${id})`}
        about={{ id }}
      >
        <label>
          {passkeys.name}
          <input type="text" name="name" value={name} required dir="auto" />
        </label>
      </Form>
      <Form
        context={context}
        action="passkeyRemove"
        submit={passkeys.remove}
        label={`${passkeys.remove}: ${name} (${id})`}
        about={{ id }}
        isDangerous
      >
        <p>{passkeys.removeText}</p>
        <Confirmation context={context} />
      </Form>
    </Disclosure>
  );
}
