/** The address outside to which the owner of a mailbox gets a link for a new password. It is confirmed by a link before it counts. */
import { Heading } from '../frame/elements.tsx';
import { Field, Form } from '../frame/forms.tsx';
import { CurrentPassword } from '../frame/passwords.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { requireOwnPassword } from '../people/mailbox-login.ts';
import { type RecoveryAddress, RecoveryState, RemoveAddress } from '../receiving/recovery-address.tsx';

type MailboxContext = Contexts['mailbox'];

const PAGE = '/mailbox/recovery';

export const mailboxRecoveryPage = definePage({
  area: 'mailbox',
  path: '/recovery',
  menu: { group: 'mailbox', label: ({ recovery }) => recovery.title },
  async show(context) {
    const { api, app, mailbox, texts } = context;
    const { recovery: words } = texts;
    const { address, confirmedAt } = await api.get<RecoveryAddress>('/recovery-address');
    const isOffered = app.recovery.isOffered(mailbox);
    return {
      title: words.title,
      body: (
        <>
          <Heading title={words.title} />
          <p>{words.introduction}</p>
          {!isOffered && <p>{words.notOffered}</p>}
          <RecoveryState context={context} address={address} confirmedAt={confirmedAt} />
          {address !== null && confirmedAt === null && <p>{words.waits}</p>}
          {isOffered && (
            <NewAddress context={context} label={address === null ? words.address : words.otherAddress} />
          )}
          {address !== null && <RemoveAddress context={context} action="remove" text={words.removeText} />}
        </>
      ),
    };
  },
  actions: {
    set: {
      async run(context, form) {
        const { app, mailbox, texts } = context;
        // Whoever finds a browser that is logged in must not be able to stay in the mailbox by this.
        const password = fieldOf(form, 'currentPassword');
        await requireOwnPassword(app, context, { password, wrong: texts.account.wrongPassword });
        await app.recovery.set(mailbox, fieldOf(form, 'address'), texts.recovery);
        return { to: PAGE, said: 'recoveryLinkSent' };
      },
    },
    remove: {
      async run({ api }) {
        await api.delete('/recovery-address');
        return { to: PAGE, said: 'deleted' };
      },
    },
  },
});

function NewAddress({ context, label }: { context: MailboxContext; label: string }) {
  const { recovery } = context.texts;
  return (
    <Form context={context} action="set" submit={recovery.set}>
      <Field
        context={context}
        action="set"
        name="address"
        type="email"
        label={label}
        help={recovery.addressHelp}
        autocomplete="email"
        isRequired
      />
      <CurrentPassword context={context} name="currentPassword" />
    </Form>
  );
}
