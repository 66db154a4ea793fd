/** The API keys that reach the messages of the owner's mailbox: which there are, another one, and the revocation of each. */
import type { ApiKeyRow } from '../../db/tenant-tables.ts';
import { createMailboxKey, listMailboxKeys, revokeMailboxKey } from '../../mailboxes/api-keys/create.ts';
import { MAILBOX_ACCESS, type MailboxAccess, showMailboxKey } from '../../mailboxes/api-keys/schemas.ts';
import { Copyable, Foreign, Heading, Time } from '../frame/elements.tsx';
import { ActionButton, Disclosure, Field, Form, Select } from '../frame/forms.tsx';
import { Table } from '../frame/lists.tsx';
import { CurrentPassword } from '../frame/passwords.tsx';
import { shortened } from '../frame/shortened.ts';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { requireOwnPassword } from '../people/mailbox-login.ts';

type Context = Contexts['mailbox'];

const PAGE = '/mailbox/api-keys';
const CREATE = 'createKey';
/** Field with the present password. */
const CURRENT = 'currentPassword';
/** Maximum length of a name in what a screen reader reads out for a button. */
const MAX_READ_CHARACTERS = 80;

export const mailboxApiKeysPage = definePage({
  area: 'mailbox',
  path: '/api-keys',
  menu: { group: 'mailbox', label: ({ mailboxKeys }) => mailboxKeys.title },
  async show(context) {
    const { mailboxKeys } = context.texts;
    const keys = await listMailboxKeys(context.app, context.mailbox.id);
    return {
      title: mailboxKeys.title,
      body: (
        <>
          <Heading title={mailboxKeys.title} />
          <p>{mailboxKeys.introduction}</p>
          <Keys context={context} keys={keys} />
          <NewKey context={context} />
        </>
      ),
    };
  },
  actions: {
    // A key outlives the session: whoever finds a browser that is logged in must not be able to stay in the mailbox by one.
    [CREATE]: {
      logs: ['name', 'access', 'expires'],
      async run(context, form) {
        const { app, mailbox, texts } = context;
        const password = fieldOf(form, CURRENT);
        await requireOwnPassword(app, context, { password, wrong: texts.account.wrongPassword });
        const [name, expires] = [fieldOf(form, 'name').trim(), fieldOf(form, 'expires')];
        const { key, token } = await createMailboxKey(app, mailbox.tenantId, {
          mailboxId: mailbox.id,
          wanted: {
            name,
            access: readAccess(fieldOf(form, 'access')),
            // A key is valid through the day that is named.
            ...(expires !== '' && { expiresAt: `${expires}T23:59:59Z` }),
          },
        });
        const { mailboxKeys } = texts;
        const body = <Created context={context} name={key.name} token={token} />;
        return { title: mailboxKeys.shownTitle, body };
      },
    },
    revoke: {
      logs: ['id'],
      async run({ app, mailbox }, form) {
        await revokeMailboxKey(app, mailbox.id, fieldOf(form, 'id'));
        return { to: PAGE, said: 'keyRevoked' as const };
      },
    },
  },
});

/** Returns the access that was chosen, the least one for text that is none. */
function readAccess(text: string): MailboxAccess {
  return MAILBOX_ACCESS.find((one) => one === text) ?? 'read';
}

function Keys({ context, keys }: { context: Context; keys: readonly ApiKeyRow[] }) {
  const { mailboxKeys, frame } = context.texts;
  return (
    <Table
      context={context}
      caption={mailboxKeys.caption}
      rows={keys.map(showMailboxKey)}
      keyOf={({ id }) => id}
      empty={mailboxKeys.none}
      columns={[
        { label: mailboxKeys.name, cell: ({ name }) => <Foreign text={name} /> },
        { label: mailboxKeys.hint, cell: ({ hint }) => <code>{hint}…</code> },
        { label: mailboxKeys.access, cell: ({ access }) => mailboxKeys.accesses[access] },
        { label: mailboxKeys.lastUsed, cell: (row) => <Time context={context} at={row.lastUsedAt} /> },
        { label: mailboxKeys.expires, cell: (row) => <Time context={context} at={row.expiresAt} /> },
        {
          label: frame.actions,
          cell: ({ id, name, hint }) => (
            <ActionButton
              context={context}
              action="revoke"
              submit={mailboxKeys.revoke}
              label={`${mailboxKeys.revoke}: ${shortened(name, MAX_READ_CHARACTERS)} (${hint}…)`}
              about={{ id }}
              isDangerous
            />
          ),
        },
      ]}
    />
  );
}

function NewKey({ context }: { context: Context }) {
  const { mailboxKeys } = context.texts;
  const field = { context, action: CREATE };
  return (
    <Disclosure label={mailboxKeys.create} isOpen={context.failed?.action === CREATE}>
      <Form context={context} action={CREATE} submit={mailboxKeys.create}>
        <Field {...field} name="name" label={mailboxKeys.name} help={mailboxKeys.nameHelp} isRequired />
        <Select
          {...field}
          name="access"
          label={mailboxKeys.access}
          options={MAILBOX_ACCESS.map((value) => ({ value, label: mailboxKeys.accesses[value] }))}
        />
        <Field
          {...field}
          name="expires"
          type="date"
          label={mailboxKeys.expiresOn}
          help={mailboxKeys.expiresHelp}
        />
        <CurrentPassword context={context} name={CURRENT} />
      </Form>
    </Disclosure>
  );
}

function Created({ context, name, token }: { context: Context; name: string; token: string }) {
  const { mailboxKeys } = context.texts;
  return (
    <>
      <Heading title={mailboxKeys.shownTitle} />
      <p>{mailboxKeys.shownText}</p>
      <p>
        <Foreign text={name} />: <Copyable context={context} text={token} />
      </p>
      <p>
        {mailboxKeys.mailboxId}: <Copyable context={context} text={context.mailbox.id} />
      </p>
      <p>
        <a href={PAGE}>{mailboxKeys.back}</a>
      </p>
    </>
  );
}
