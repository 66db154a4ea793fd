/** The address outside to which the owner of a mailbox gets a link for a new password. It is confirmed by a link before it counts. */
import { Facts, Foreign, Heading, Status } from '../frame/elements.tsx';
import { Disclosure, Field, Form } from '../frame/forms.tsx';
import { CurrentPassword } from '../frame/passwords.tsx';
import { type Contexts, definePage, fieldOf } from '../page.ts';
import { requireMailboxPassword } from '../people/mailbox-login.ts';

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
                  recovery.confirmedAt === null ? (
                    <Status tone="warning">{words.waits}</Status>
                  ) : (
                    <Status tone="good">{words.confirmed}</Status>
                  ),
                ],
              ]}
            />
          ) : (
            <p>{words.none}</p>
          )}
          {isOffered && <NewAddress context={context} />}
          {recovery && <Remove context={context} />}
        </>
      ),
    };
  },
  actions: {
    set: {
      async run(context, form) {
        await requirePassword(context, fieldOf(form, 'currentPassword'));
        const { app, mailbox, texts } = context;
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

/** Whoever finds a browser that is logged in must not be able to stay in the mailbox by this. */
async function requirePassword({ app, mailbox, clientAddress }: MailboxContext, password: string) {
  await requireMailboxPassword(app, { address: mailbox.address, password, clientAddress });
}

function NewAddress({ context }: { context: MailboxContext }) {
  const { recovery } = context.texts;
  return (
    <Form context={context} action="set" submit={recovery.set}>
      <Field
        context={context}
        action="set"
        name="address"
        type="email"
        label={recovery.address}
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
    <Disclosure label={frame.delete} isOpen={context.failed?.action === 'remove'}>
      <Form context={context} action="remove" submit={frame.delete} isDangerous>
        <p>{recovery.removeText}</p>
      </Form>
    </Disclosure>
  );
}
