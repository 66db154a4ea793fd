/** The page on which somebody who has forgotten the password of a mailbox asks for a link. It answers the same for every address. */
import { readAccount } from '../../mailboxes/address.ts';
import { invalid } from '../../system/errors.ts';
import { Field, Form } from '../frame/forms.tsx';
import { definePage, fieldOf } from '../page.ts';
import { requireChannel } from './channel.ts';

export const MAILBOX_FORGOTTEN = '/mailbox/forgotten';

export const mailboxForgottenPage = definePage({
  area: 'public',
  path: MAILBOX_FORGOTTEN,
  async show(context) {
    const { recovery, login } = context.texts;
    return {
      title: recovery.forgotTitle,
      body: (
        <>
          <h1>{recovery.forgotTitle}</h1>
          <p>{recovery.forgotText}</p>
          <Form context={context} action="ask" submit={recovery.forgotSubmit}>
            <Field
              context={context}
              action="ask"
              name="address"
              type="email"
              label={recovery.forgotAddress}
              autocomplete="username"
              isRequired
            />
          </Form>
          <p>
            <a href="/mailbox/login">{login.mailboxTitle}</a>
          </p>
        </>
      ),
    };
  },
  actions: {
    ask: {
      isAudited: false,
      async run(context, form) {
        requireChannel(context);
        const { app, clientAddress, texts } = context;
        const address = fieldOf(form, 'address').trim();
        if (!readAccount(address).isAddress)
          throw invalid('address', '`address` must be one address such as ann@example.com');
        app.recovery.ask({ address, clientAddress }, texts.recovery);
        return { to: MAILBOX_FORGOTTEN, said: 'recoveryAsked' };
      },
    },
  },
});
