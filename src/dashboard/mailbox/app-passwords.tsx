/** The app passwords of the owner's mailbox. */
import { Heading } from '../frame/elements.tsx';
import { type Contexts, definePage } from '../page.ts';
import { appPasswordActions, appPasswordSection } from '../receiving/app-passwords.tsx';

const PLACE = { base: '', page: '/mailbox/app-passwords' };

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
  actions: appPasswordActions<Contexts['mailbox']>(() => PLACE),
});
