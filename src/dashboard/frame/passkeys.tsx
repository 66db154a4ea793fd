/** Forms that ask for a passkey. They need JavaScript, which shows them, so nothing of them is seen without it. */
import { isIP } from 'node:net';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { ComponentChildren } from 'preact';
import type { BaseContext } from '../page.ts';
import { Form } from './forms.tsx';

/** Name of the field with what the authenticator has answered. */
export const CREDENTIAL_FIELD = 'credential';

type PasskeyFormProps = {
  context: BaseContext;
  action: string;
  submit: string;
  /** Options with which the browser makes a passkey, or asks one for a signature. */
  options: PublicKeyCredentialCreationOptionsJSON | PublicKeyCredentialRequestOptionsJSON;
  children?: ComponentChildren;
};

/** A form whose button asks the browser for a passkey, and sends its answer with the other fields. */
export function PasskeyForm({ context, action, submit, options, children }: PasskeyFormProps) {
  return (
    <div class="passkey" hidden>
      <Form context={context} action={action} submit={submit}>
        {children}
        <input
          type="hidden"
          name={CREDENTIAL_FIELD}
          data-passkey={action}
          data-options={JSON.stringify(options)}
        />
        <p class="passkey-failed" role="alert" tabIndex={-1} hidden>
          {context.texts.passkeys.failed}
        </p>
      </Form>
    </div>
  );
}

/** Returns the origin of a page when passkeys can belong to it: they belong to names, and not to addresses such as 127.0.0.1. */
export function passkeyOrigin({ origin }: Pick<BaseContext, 'origin'>): string | undefined {
  if (origin === undefined) return undefined;
  const { hostname } = new URL(origin);
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? origin : undefined;
}
