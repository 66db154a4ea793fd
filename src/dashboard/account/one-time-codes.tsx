/** The second factor of a person: the one-time codes of its authenticator, and the recovery codes that replace them. */
import { AppError } from '../../system/errors.ts';
import { Heading } from '../frame/elements.tsx';
import { Disclosure, Field, Form } from '../frame/forms.tsx';
import { fieldOf, type PageDefinition, type PersonContext } from '../page.ts';
import { hashRecoveryCode, newRecoveryCodes } from '../people/recovery.ts';
import { countRecoveryCodes } from '../people/recovery-store.ts';
import { changePerson } from '../people/store.ts';
import { newTotpSecret, totpAddress } from '../people/totp.ts';
import { TranslatedRefusal } from '../texts/refusal.ts';
import { Confirmation } from './confirmation.tsx';

/** Matches what `newTotpSecret` returns. */
const TOTP_SECRET = /^[A-Z2-7]{32}$/;

export const totpActions = {
  totpOn: {
    async run(context, form) {
      const { app, person, texts } = context;
      await app.people.confirm(context, fieldOf(form, 'password'));
      const secret = fieldOf(form, 'totpSecret');
      if (!TOTP_SECRET.test(secret) || !(await app.people.acceptCode(person, secret, fieldOf(form, 'code'))))
        throw new AppError('validation_error', 'The code is wrong', { param: 'code' });
      const set = { totpSealed: app.people.sealTotpSecret(person.id, secret) };
      return giveRecoveryCodes(context, { set, title: texts.said.totpOn });
    },
  },
  totpOff: {
    async run(context, form) {
      const { app, person, session } = context;
      await app.people.confirm(context, fieldOf(form, 'password'));
      const change = { id: person.id, set: { totpSealed: null }, recoveryCodes: [] };
      await app.db.commit(changePerson, { ...change, endsOthersThan: session.id });
      return { to: '/account', said: 'totpOff' };
    },
  },
  renewRecoveryCodes: {
    async run(context, form) {
      const { app, person, texts } = context;
      await app.people.confirm(context, fieldOf(form, 'password'));
      if (person.totpSealed === null) throw new TranslatedRefusal('invalid_state', texts.account.totpIsOff);
      return giveRecoveryCodes(context, { set: {}, title: texts.account.recoveryCodes });
    },
  },
} satisfies PageDefinition<'account'>['actions'];

/** Gives a person new recovery codes together with another change, and shows them once. */
async function giveRecoveryCodes(
  context: PersonContext,
  { set, title }: { set: { totpSealed?: string }; title: string },
) {
  const { app, person, session } = context;
  const codes = newRecoveryCodes();
  const recoveryCodes = codes.flatMap((code) => hashRecoveryCode(code) ?? []);
  await app.db.commit(changePerson, { id: person.id, set, recoveryCodes, endsOthersThan: session.id });
  const { account } = context.texts;
  return {
    title,
    body: (
      <>
        <Heading title={title} />
        <h2>{account.recoveryCodes}</h2>
        <p>{account.recoveryCodesText}</p>
        <ul class="codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <p>
          <a href="/account">{account.recoveryCodesKept}</a>
        </p>
      </>
    ),
  };
}

/** The part of the page about the second factor. */
export async function totpSection(context: PersonContext) {
  const { account } = context.texts;
  const isOn = context.person.totpSealed !== null;
  return (
    <section aria-labelledby="totp">
      <h2 id="totp">{account.totp}</h2>
      <p>{isOn ? account.totpIsOn : account.totpIsOff}</p>
      {isOn ? await totpIsOn(context) : await totpBegin(context)}
    </section>
  );
}

async function totpIsOn(context: PersonContext) {
  const { account } = context.texts;
  const { app, person, formats, failed } = context;
  const left = await countRecoveryCodes(app.db.read, person.id);
  return (
    <>
      <p>{account.recoveryCodesLeft(formats.number(left))}</p>
      <Disclosure label={account.recoveryCodesRenew} isOpen={failed?.action === 'renewRecoveryCodes'}>
        <Form context={context} action="renewRecoveryCodes" submit={account.recoveryCodesRenew}>
          <p>{account.recoveryCodesRenewText}</p>
          <Confirmation context={context} />
        </Form>
      </Disclosure>
      <Disclosure label={account.totpEnd} isOpen={failed?.action === 'totpOff'}>
        <Form context={context} action="totpOff" submit={account.totpEnd} isDangerous>
          <p>{account.totpEndText}</p>
          <Confirmation context={context} />
        </Form>
      </Disclosure>
    </>
  );
}

async function totpBegin(context: PersonContext) {
  const { account } = context.texts;
  const { person, app, failed } = context;
  const isOpen = failed?.action === 'totpOn';
  const entered = isOpen ? fieldOf(failed.form, 'totpSecret') : '';
  // A secret whose code was wrong stays, because the app of the person has it already.
  const secret = TOTP_SECRET.test(entered) ? entered : newTotpSecret();
  const address = totpAddress(secret, { issuer: `Postrider ${app.config.hostname}`, account: person.email });
  const { default: qrcode } = await import('qrcode');
  const image = await qrcode.toDataURL(address, { margin: 2 });
  return (
    <Disclosure label={account.totpBegin} isOpen={isOpen}>
      <Form context={context} action="totpOn" submit={account.totpBegin}>
        <p>{account.totpScan}</p>
        <img src={image} alt="" width="200" height="200" />
        <p>
          {account.totpSecret}: <code>{secret}</code>
        </p>
        <input type="hidden" name="totpSecret" value={secret} />
        <Field
          context={context}
          action="totpOn"
          name="code"
          label={account.code}
          isRequired
          autocomplete="one-time-code"
        />
        <Confirmation context={context} />
      </Form>
    </Disclosure>
  );
}
