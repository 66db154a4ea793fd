/**
 * The page behind a link that was mailed to the recovery address of a mailbox: it confirms the address, or sets a new password. Looking at the
 * page uses nothing, so programs that check links do not use it up.
 */
import { ActionButton, Field, Form } from '../frame/forms.tsx';
import { type ActsAs, definePage, fieldOf, type PublicContext } from '../page.ts';
import { requireChannel } from './channel.ts';
import { MAILBOX_FORGOTTEN } from './mailbox-forgotten.tsx';

export const mailboxLinkPage = definePage({
  area: 'public',
  path: '/mailbox/link/:token',
  async show(context) {
    const { recovery, login } = context.texts;
    const link = await context.app.recovery.open(tokenOf(context));
    if (!link) return { title: login.wrongLink, body: <WrongLink context={context} /> };
    const { address } = link.mailbox;
    if (link.kind === 'confirm')
      return {
        title: recovery.confirmTitle,
        body: (
          <>
            <h1>{recovery.confirmTitle}</h1>
            <p>{recovery.confirmText(link.recovery.address, address)}</p>
            <ActionButton context={context} action="confirm" submit={recovery.confirm} />
          </>
        ),
      };
    return {
      title: recovery.resetTitle,
      body: (
        <>
          <h1>{recovery.resetTitle}</h1>
          <p>{recovery.resetText(address)}</p>
          <Form context={context} action="reset" submit={recovery.resetTitle}>
            <input type="hidden" autocomplete="username" value={address} />
            <Field
              context={context}
              action="reset"
              name="password"
              type="password"
              label={login.newPassword}
              autocomplete="new-password"
              isRequired
            />
          </Form>
        </>
      ),
    };
  },
  actions: {
    confirm: {
      async run(context, _form, actsAs) {
        requireChannel(context);
        await actAsOwner(context, actsAs);
        await context.app.recovery.confirm(tokenOf(context), context.texts.recovery);
        return { to: '/mailbox/login', said: 'recoveryConfirmed' };
      },
    },
    reset: {
      async run(context, form, actsAs) {
        requireChannel(context);
        const { app, texts } = context;
        await actAsOwner(context, actsAs);
        await app.recovery.reset(tokenOf(context), fieldOf(form, 'password'), texts.recovery);
        return { to: '/mailbox/login', said: 'passwordChanged' };
      },
    },
  },
});

/** Begins the line of the audit log for the owner of the mailbox that a link is for. */
async function actAsOwner(context: PublicContext, actsAs: ActsAs): Promise<void> {
  const link = await context.app.recovery.open(tokenOf(context));
  if (link) await actsAs({ mailbox: link.mailbox });
}

function tokenOf({ params }: PublicContext): string {
  return params['token'] ?? '';
}

function WrongLink({ context }: { context: PublicContext }) {
  const { login, recovery } = context.texts;
  return (
    <>
      <h1>{login.wrongLink}</h1>
      <p>{recovery.wrongLinkText}</p>
      <p>
        <a href={MAILBOX_FORGOTTEN}>{recovery.again}</a>
      </p>
    </>
  );
}
