/** The page of a person about itself: its name, language and zone, its password, its one-time codes, and its sessions. */
import { readPassword } from '../../mailboxes/passwords/password.ts';
import { AppError, invalid, notFound } from '../../system/errors.ts';
import { isTimeZone } from '../formats.ts';
import { Facts } from '../frame/elements.tsx';
import { Disclosure, Field, Form, Select } from '../frame/forms.tsx';
import { SessionTable } from '../frame/sessions.tsx';
import { definePage, fieldOf, type PersonContext } from '../page.ts';
import { readName } from '../people/fields.ts';
import { endSession, listSessions } from '../people/sessions-store.ts';
import { changePerson } from '../people/store.ts';
import { newTotpSecret, totpAddress } from '../people/totp.ts';
import { isLanguage, LANGUAGES } from '../texts/texts.ts';

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
      body: (
        <>
          <h1>{account.title}</h1>
          <Profile context={context} />
          <Password context={context} />
          {await totpSection(context)}
          <SessionTable context={context} sessions={sessions} />
        </>
      ),
    };
  },
  actions: {
    profile: {
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
        await app.people.requirePassword(person, fieldOf(form, 'currentPassword'), context);
        const password = readPassword('newPassword', fieldOf(form, 'newPassword'));
        const passwordHash = await app.people.hashPassword(password, person);
        const change = { id: person.id, set: { passwordHash }, endsOthersThan: session.id };
        await app.db.commit(changePerson, change);
        return { to: '/account', said: 'passwordChanged' };
      },
    },
    totpOn: {
      async run(context, form) {
        const { app, person, session } = context;
        await app.people.requirePassword(person, fieldOf(form, 'password'), context);
        const secret = fieldOf(form, 'key');
        if (
          !/^[A-Z2-7]{32}$/.test(secret) ||
          !(await app.people.acceptCode(person, secret, fieldOf(form, 'code')))
        )
          throw new AppError('validation_error', 'The code is wrong', { param: 'code' });
        const set = { totpSealed: app.people.sealTotpSecret(person.id, secret) };
        await app.db.commit(changePerson, { id: person.id, set, endsOthersThan: session.id });
        return { to: '/account', said: 'totpOn' };
      },
    },
    totpOff: {
      async run(context, form) {
        const { app, person, session } = context;
        await app.people.requirePassword(person, fieldOf(form, 'password'), context);
        const change = { id: person.id, set: { totpSealed: null }, endsOthersThan: session.id };
        await app.db.commit(changePerson, change);
        return { to: '/account', said: 'totpOff' };
      },
    },
    end: {
      async run({ app, person }, form) {
        const owner = { personId: person.id, mailboxId: null };
        if (!(await app.db.commit(endSession, { id: fieldOf(form, 'id'), owner }))) throw notFound('Session');
        return { to: '/account', said: 'ended' };
      },
    },
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

function Password({ context }: { context: PersonContext }) {
  const { account } = context.texts;
  const field = { context, action: 'password', type: 'password' as const, isRequired: true };
  return (
    <section aria-labelledby="password">
      <h2 id="password">{account.password}</h2>
      <Form context={context} action="password" submit={account.changePassword}>
        <input type="hidden" autocomplete="username" value={context.person.email} />
        <Field
          {...field}
          name="currentPassword"
          label={account.currentPassword}
          autocomplete="current-password"
        />
        <Field {...field} name="newPassword" label={account.newPassword} autocomplete="new-password" />
      </Form>
    </section>
  );
}

async function totpSection(context: PersonContext) {
  const { account } = context.texts;
  const isOn = context.person.totpSealed !== null;
  return (
    <section aria-labelledby="totp">
      <h2 id="totp">{account.totp}</h2>
      <p>{isOn ? account.totpIsOn : account.totpIsOff}</p>
      {isOn ? <TotpOff context={context} /> : await totpOn(context)}
    </section>
  );
}

function TotpOff({ context }: { context: PersonContext }) {
  const { account } = context.texts;
  return (
    <Form context={context} action="totpOff" submit={account.totpEnd} isDangerous>
      <CurrentPassword context={context} action="totpOff" />
    </Form>
  );
}

function CurrentPassword({ context, action }: { context: PersonContext; action: string }) {
  const { account } = context.texts;
  return (
    <Field
      context={context}
      action={action}
      name="password"
      type="password"
      label={account.currentPassword}
      isRequired
      autocomplete="current-password"
    />
  );
}

async function totpOn(context: PersonContext) {
  const { account } = context.texts;
  const { person, app, failed } = context;
  // A secret whose code was wrong stays, because the app of the person has it already.
  const secret = failed?.action === 'totpOn' ? (failed.form.values('key')[0] ?? '') : newTotpSecret();
  const address = totpAddress(secret, { issuer: `Postrider ${app.config.hostname}`, account: person.email });
  const { default: qrcode } = await import('qrcode');
  const image = await qrcode.toDataURL(address, { margin: 2 });
  return (
    <Disclosure label={account.totpBegin} isOpen={failed?.action === 'totpOn'}>
      <Form context={context} action="totpOn" submit={account.totpBegin}>
        <p>{account.totpScan}</p>
        <img src={image} alt="" width="200" height="200" />
        <p>
          {account.totpSecret}: <code>{secret}</code>
        </p>
        <input type="hidden" name="key" value={secret} />
        <Field
          context={context}
          action="totpOn"
          name="code"
          label={account.code}
          isRequired
          autocomplete="one-time-code"
        />
        <CurrentPassword context={context} action="totpOn" />
      </Form>
    </Disclosure>
  );
}
