/**
 * The app passwords of a mailbox: a table with a button to revoke each, and a form for another one, whose text is shown once. The owner of the
 * mailbox and the administrators of its tenant use the same.
 */
import type { ComponentChildren } from 'preact';
import type { Static } from 'typebox';
import { PROTOCOLS } from '../../accounts/protocols.ts';
import { type Calls, path } from '../../http/json/calls.ts';
import type { appPasswordSchema, createdAppPasswordSchema } from '../../mailboxes/app-passwords/schemas.ts';
import { Copyable, Foreign, Heading, Time } from '../frame/elements.tsx';
import { ActionButton, Checkbox, Choices, Disclosure, Field, Form, Select } from '../frame/forms.tsx';
import { Table } from '../frame/lists.tsx';
import { CurrentPassword } from '../frame/passwords.tsx';
import { shortened } from '../frame/shortened.ts';
import { type BaseContext, fieldOf } from '../page.ts';
import { mailSettings } from './mail-settings.tsx';

type AppPassword = Static<typeof appPasswordSchema>;
type Created = Static<typeof createdAppPasswordSchema>;

type Context = BaseContext & { api: Calls };

/**
 * Where app passwords are: the path of the mailbox in the API, the page that shows them, and the members of a shared mailbox. `isOwners` says that
 * the owner is there, whose present password a new one needs.
 */
type Place = {
  base: string;
  page: string;
  members?: readonly string[];
  mayChange?: boolean;
  isOwners?: boolean;
};
/** Checks the present password of whoever makes a new one. It throws the refusal of a wrong one. */
type Confirm<Of> = (context: Of, password: string) => Promise<void>;

/** Field with the present password. */
const CURRENT = 'currentPassword';

/** More than a mailbox may have (mailboxes/app-passwords/store.ts), so that one page has all of them. */
const LIMIT = 100;

/** Maximum length of a name in what a screen reader reads out for a button. */
const MAX_READ_CHARACTERS = 80;

/** Returns the table with the form. */
export async function appPasswordSection(context: Context, place: Place) {
  const { texts, api } = context;
  const { appPasswords, frame } = texts;
  const { data } = await api.get<{ data: AppPassword[] }>(`${place.base}/app-passwords`, { limit: LIMIT });
  const { mayChange = true } = place;
  const revoke = {
    label: frame.actions,
    cell: ({ id, name, hint }: AppPassword) => (
      <ActionButton
        context={context}
        action="revoke"
        submit={appPasswords.revoke}
        label={`${appPasswords.revoke}: ${shortened(name, MAX_READ_CHARACTERS)} (${hint}…)`}
        about={{ id }}
        isDangerous
      />
    ),
  };
  return (
    <>
      <Table
        context={context}
        caption={appPasswords.caption}
        rows={data}
        keyOf={({ id }) => id}
        empty={appPasswords.none}
        columns={[
          { label: appPasswords.name, cell: ({ name }) => <Foreign text={name} /> },
          { label: appPasswords.hint, cell: ({ hint }) => <code>{hint}…</code> },
          {
            label: appPasswords.protocols,
            cell: ({ protocols }) => protocols.map((one) => texts.mailSettings.protocols[one]).join(', '),
          },
          { label: appPasswords.lastUsed, cell: (row) => <Time context={context} at={row.lastUsedAt} /> },
          { label: appPasswords.expires, cell: (row) => <Time context={context} at={row.expiresAt} /> },
          ...(mayChange ? [revoke] : []),
        ]}
      />
      {mayChange && <NewAppPassword context={context} place={place} />}
    </>
  );
}

function NewAppPassword({ context, place }: { context: Context; place: Place }) {
  const { members = [], isOwners = false } = place;
  const { appPasswords, mailSettings } = context.texts;
  const field = { context, action: 'createAppPassword' };
  return (
    <Disclosure label={appPasswords.create} isOpen={context.failed?.action === 'createAppPassword'}>
      <Form context={context} action="createAppPassword" submit={appPasswords.create}>
        <Field {...field} name="name" label={appPasswords.name} help={appPasswords.nameHelp} isRequired />
        {members.length > 0 && (
          <Select
            {...field}
            name="member"
            label={appPasswords.member}
            options={members.map((value) => ({ value, label: value }))}
          />
        )}
        <Choices name="protocols" label={appPasswords.protocols}>
          {PROTOCOLS.map((value) => (
            <Checkbox
              key={value}
              {...field}
              name="protocols"
              value={value}
              label={mailSettings.protocols[value]}
              isChecked
            />
          ))}
        </Choices>
        <Field
          {...field}
          name="expires"
          type="date"
          label={appPasswords.expiresOn}
          help={appPasswords.expiresHelp}
        />
        {isOwners && <CurrentPassword context={context} name={CURRENT} />}
      </Form>
    </Disclosure>
  );
}

/** Returns the actions of the section. `placeOf` says where the app passwords of the page are. */
export function appPasswordActions<Of extends Context>(
  placeOf: (context: Of) => Place,
  confirm?: Confirm<Of>,
) {
  return {
    createAppPassword: {
      logs: ['name', 'protocols', 'expires', 'member'],
      async run(context: Of, form: Parameters<typeof fieldOf>[0]) {
        const { base, page } = placeOf(context);
        await confirm?.(context, fieldOf(form, CURRENT));
        const [expires, member] = [fieldOf(form, 'expires'), fieldOf(form, 'member')];
        const created = await context.api.post<Created>(`${base}/app-passwords`, {
          name: fieldOf(form, 'name').trim(),
          protocols: form.values('protocols'),
          ...(member !== '' && { member }),
          // A password is valid through the day that is named.
          ...(expires !== '' && { expiresAt: `${expires}T23:59:59Z` }),
        });
        const { title } = context.texts.appPasswords;
        const settings = await mailSettings(context, base);
        const shown = <NewPassword context={context} created={created} back={page} settings={settings} />;
        return { title, body: shown };
      },
    },
    revoke: {
      logs: ['id'],
      async run(context: Of, form: Parameters<typeof fieldOf>[0]) {
        const { base, page } = placeOf(context);
        await context.api.delete(base + path`/app-passwords/${fieldOf(form, 'id')}`);
        return { to: page, said: 'revoked' as const };
      },
    },
  };
}

type NewPasswordProps = { context: Context; created: Created; back: string; settings: ComponentChildren };

/** The new password, with what a mail program asks for besides. */
function NewPassword({ context, created, back, settings }: NewPasswordProps) {
  const { appPasswords } = context.texts;
  return (
    <>
      <Heading title={appPasswords.shownTitle} />
      <p>{appPasswords.shownText}</p>
      <p>
        <Foreign text={created.name} />: <Copyable context={context} text={created.password} />
      </p>
      {settings}
      <p>
        <a href={back}>{appPasswords.back}</a>
      </p>
    </>
  );
}
