/** Shows the key for the authenticator app and the recovery codes, with which somebody begins to use one-time codes. Neither needs a script. */
import { type BaseContext, fieldOf } from '../page.ts';
import { newTotpSecret, totpAddress } from '../people/totp.ts';
import { Heading } from './elements.tsx';
import { Field } from './forms.tsx';

/** Matches what `newTotpSecret` returns. */
const TOTP_SECRET = /^[A-Z2-7]{32}$/;

/** Returns true for a secret as a form of ours has it. */
export function isTotpSecret(text: string): boolean {
  return TOTP_SECRET.test(text);
}

/** Returns the fields with which somebody switches one-time codes on: a new key as a picture and as text, and the code that the app shows. */
export async function authenticatorFields(
  context: BaseContext,
  { action, email }: { action: string; email: string },
) {
  const { app, failed, texts } = context;
  const { account } = texts;
  const entered = failed?.action === action ? fieldOf(failed.form, 'totpSecret') : '';
  // A secret whose code was wrong stays, because the app of the person has it already.
  const secret = isTotpSecret(entered) ? entered : newTotpSecret();
  const address = totpAddress(secret, { issuer: `Postrider ${app.config.hostname}`, account: email });
  const { default: qrcode } = await import('qrcode');
  const image = await qrcode.toDataURL(address, { margin: 2 });
  return (
    <>
      <p>{account.totpScan}</p>
      <img src={image} alt="" width="200" height="200" />
      <p>
        {account.totpSecret}: <code>{secret}</code>
      </p>
      <input type="hidden" name="totpSecret" value={secret} />
      <Field
        context={context}
        action={action}
        name="code"
        label={account.code}
        isRequired
        autocomplete="one-time-code"
      />
    </>
  );
}

type Given = { codes: readonly string[]; title: string; to: string };

/** Returns the page that shows new recovery codes once, and leads on to `to`. */
export function recoveryCodesView(
  { texts: { account } }: Pick<BaseContext, 'texts'>,
  { codes, title, to }: Given,
) {
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
          <a href={to}>{account.recoveryCodesKept}</a>
        </p>
      </>
    ),
  };
}
