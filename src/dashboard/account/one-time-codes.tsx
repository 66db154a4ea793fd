/** The second factor of a person: the one-time codes of its authenticator, and the recovery codes that replace them. */
import { AppError } from '../../system/errors.ts';
import { authenticatorFields, isTotpSecret, recoveryCodesView } from '../frame/authenticator.tsx';
import { Disclosure, Form } from '../frame/forms.tsx';
import { fieldOf, type PageDefinition, type PersonContext } from '../page.ts';
import { hashRecoveryCode, newRecoveryCodes } from '../people/recovery.ts';
import { countRecoveryCodes } from '../people/recovery-store.ts';
import { changePerson } from '../people/store.ts';
import { TranslatedRefusal } from '../texts/refusal.ts';
import { Confirmation } from './confirmation.tsx';

export const totpActions = {
  totpOn: {
    async run(context, form) {
      const { app, person, texts } = context;
      await app.people.confirm(context, fieldOf(form, 'password'));
      const secret = fieldOf(form, 'totpSecret');
      if (!isTotpSecret(secret) || !(await app.people.acceptCode(person, secret, fieldOf(form, 'code'))))
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
  return recoveryCodesView(context, { codes, title, to: '/account' });
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
  const { person, failed } = context;
  return (
    <Disclosure label={account.totpBegin} isOpen={failed?.action === 'totpOn'}>
      <Form context={context} action="totpOn" submit={account.totpBegin}>
        {await authenticatorFields(context, { action: 'totpOn', email: person.email })}
        <Confirmation context={context} />
      </Form>
    </Disclosure>
  );
}
