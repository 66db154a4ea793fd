/** The address outside to which the owner of a mailbox gets a link for a new password. It is confirmed by a link before it counts. */
import { Facts, Foreign, Heading, Status } from '../frame/elements.tsx';
import { Disclosure, Field, Form } from '../frame/forms.tsx';
import { CurrentPassword } from '../frame/passwords.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { requireOwnPassword } from '../people/mailbox-login.ts';

type MailboxContext = Contexts['mailbox'];

const PAGE = '/mailbox/recovery';

export const mailboxRecoveryPage = definePage({
  area: 'mailbox',
  path: '/recovery',
  menu: { group: 'mailbox', label: ({ recovery }) => recovery.title },
  async show(context) {
    const { app, mailbox, texts } = context;
    const { recovery: words } = texts;
    const recovery = await app.recovery.find(mailbox);
    const isOffered = app.recovery.isOffered(mailbox);
    return {
      title: words.title,
      body: (
        <>
          <Heading title={words.title} />
          <p>{words.introduction}</p>
          {!isOffered && <p>{words.notOffered}</p>}
          {recovery ? (
            <Facts
              facts={[
                [words.address, <Foreign text={recovery.address} />],
                [
                  words.state,
                  <Status tone={recovery.confirmedAt === null ? 'warning' : 'good'}>
                    {recovery.confirmedAt === null ? words.unconfirmed : words.confirmed}
                  </Status>,
                ],
              ]}
            />
          ) : (
            <p>{words.none}</p>
          )}
          {recovery?.confirmedAt === null && <p>{words.waits}</p>}
          {isOffered && (
            <NewAddress context={context} label={recovery ? words.otherAddress : words.address} />
          )}
          {recovery && <Remove context={context} />}
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
      async run({ app, mailbox }) {
        await app.recovery.remove(mailbox);
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

function Remove({ context }: { context: MailboxContext }) {
  const { recovery, frame } = context.texts;
  return (
    <section aria-labelledby="remove">
      <h2 id="remove">{recovery.remove}</h2>
      <Disclosure label={recovery.remove} isOpen={context.failed?.action === 'remove'}>
        <Form context={context} action="remove" submit={frame.delete} isDangerous>
          <p>{recovery.removeText}</p>
        </Form>
      </Disclosure>
    </section>
  );
}
