/** The page of a person about itself: its name, language and zone, its password, its second factor, its tenants, and its sessions. */
import { readPassword } from '../../mailboxes/passwords/password.ts';
import { invalid, notFound } from '../../system/errors.ts';
import { isTimeZone } from '../../system/time-zone.ts';
import { Facts } from '../frame/elements.tsx';
import { Field, Form, Select } from '../frame/forms.tsx';
import { PasswordChange } from '../frame/passwords.tsx';
import { SessionTable } from '../frame/sessions.tsx';
import { definePage, fieldOf, type PersonContext } from '../page.ts';
import { readName } from '../people/fields.ts';
import { endSession, listSessions } from '../people/sessions-store.ts';
import { changePerson } from '../people/store.ts';
import { isLanguage, LANGUAGES } from '../texts/texts.ts';
import { Confirmation } from './confirmation.tsx';
import { totpActions, totpSection } from './one-time-codes.tsx';
import { openIdSection } from './openid.tsx';
import { passkeyActions, passkeySection } from './passkeys.tsx';
import { DeleteAccount, Tenants, tenantActions } from './tenants.tsx';

export const accountPage = definePage({
  area: 'account',
  path: '',
  menu: { group: 'settings', label: ({ account }) => account.title },
  async show(context) {
    const { app, person, texts } = context;
    const { account } = texts;
    const sessions = await listSessions(app.db.read, { personId: person.id, mailboxId: null });
    return {
      title: account.title,
      hasPasskeys: true,
      body: (
        <>
          <h1>{account.title}</h1>
          <Profile context={context} />
          <PasswordChange context={context} name="newPassword" owner={person.email}>
            <Confirmation context={context} name="currentPassword" />
          </PasswordChange>
          {await totpSection(context)}
          {await passkeySection(context)}
          {await openIdSection(context)}
          <Tenants context={context} />
          <SessionTable context={context} sessions={sessions} />
          <DeleteAccount context={context} />
        </>
      ),
    };
  },
  actions: {
    profile: {
      logs: ['name', 'language', 'timeZone'],
      async run({ app, person }, form) {
        const language = fieldOf(form, 'language');
        const timeZone = fieldOf(form, 'timeZone').trim();
        if (timeZone !== '' && !isTimeZone(timeZone))
          throw invalid('timeZone', '`timeZone` must be the name of a time zone, such as Europe/Berlin');
        const set = {
          name: readName(fieldOf(form, 'name')),
          language: isLanguage(language) ? language : null,
          timeZone: timeZone === '' ? null : timeZone,
        };
        await app.db.commit(changePerson, { id: person.id, set });
        return { to: '/account', said: 'saved' };
      },
    },
    password: {
      async run(context, form) {
        const { app, person, session } = context;
        await app.people.confirm(context, fieldOf(form, 'currentPassword'));
        const password = readPassword('newPassword', fieldOf(form, 'newPassword'));
        const passwordHash = await app.people.hashPassword(password, person);
        const change = { id: person.id, set: { passwordHash }, endsOthersThan: session.id };
        await app.db.commit(changePerson, change);
        return { to: '/account', said: 'passwordChanged' };
      },
    },
    end: {
      logs: ['id'],
      async run({ app, person }, form) {
        const owner = { personId: person.id, mailboxId: null };
        if (!(await app.db.commit(endSession, { id: fieldOf(form, 'id'), owner }))) throw notFound('Session');
        return { to: '/account', said: 'ended' };
      },
    },
    ...totpActions,
    ...passkeyActions,
    ...tenantActions,
  },
});

function Profile({ context }: { context: PersonContext }) {
  const { account, frame } = context.texts;
  const { person } = context;
  const field = { context, action: 'profile' };
  const languages = Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }));
  return (
    <section aria-labelledby="profile">
      <h2 id="profile">{account.profile}</h2>
      <Facts facts={[[account.email, <bdi>{person.email}</bdi>]]} />
      <Form context={context} action="profile" submit={frame.save}>
        <Field
          {...field}
          name="name"
          label={account.name}
          value={person.name}
          isRequired
          autocomplete="name"
        />
        <Select
          {...field}
          name="language"
          label={account.language}
          value={person.language ?? ''}
          options={[{ value: '', label: account.browserLanguage }, ...languages]}
        />
        <Field
          {...field}
          name="timeZone"
          label={account.timeZone}
          value={person.timeZone ?? ''}
          help={account.timeZoneHelp}
        />
      </Form>
    </section>
  );
}
