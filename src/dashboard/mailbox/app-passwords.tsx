/** The app passwords of the owner's mailbox. */
import { Heading } from '../frame/elements.tsx';
import { type Contexts, definePage } from '../page.ts';
import { requireOwnPassword } from '../people/mailbox-login.ts';
import { appPasswordActions, appPasswordSection } from '../receiving/app-passwords.tsx';

const PLACE = { base: '', page: '/mailbox/app-passwords', isOwners: true };

export const mailboxAppPasswordsPage = definePage({
  area: 'mailbox',
  path: '/app-passwords',
  menu: { group: 'mailbox', label: ({ appPasswords }) => appPasswords.title },
  async show(context) {
    const { appPasswords } = context.texts;
    return {
      title: appPasswords.title,
      body: (
        <>
          <Heading title={appPasswords.title} />
          <p>{appPasswords.introduction}</p>
          {await appPasswordSection(context, PLACE)}
        </>
      ),
    };
  },
  // An app password outlives the session: whoever finds a browser that is logged in must not be able to stay in the mailbox by one.
  actions: appPasswordActions<Contexts['mailbox']>(
    () => PLACE,
    (context, password) =>
      requireOwnPassword(context.app, context, { password, wrong: context.texts.account.wrongPassword }),
  ),
});
