/** The first page of the owner of a mailbox: its addresses, how full it is, and the settings for mail programs. */
import type { Static } from 'typebox';
import type { mailboxSchema } from '../../mailboxes/schemas.ts';
import { Facts, Foreign, Heading, Time } from '../frame/elements.tsx';
import { Field, Form } from '../frame/forms.tsx';
import { definePage, fieldOf } from '../page.ts';
import { mailSettings } from '../receiving/mail-settings.tsx';
import { Usage } from '../receiving/usage.tsx';

export const mailboxOverviewPage = definePage({
  area: 'mailbox',
  path: '',
  menu: { group: 'mailbox', label: ({ myMailbox }) => myMailbox.overview },
  async show(context) {
    const { api, texts, formats } = context;
    const { mailboxes, myMailbox, frame } = texts;
    const mailbox = await api.get<Static<typeof mailboxSchema>>('');
    return {
      title: mailbox.address,
      body: (
        <>
          <Heading title={mailbox.address} />
          <Facts
            facts={[
              [mailboxes.displayName, <Foreign text={mailbox.displayName ?? frame.none} />],
              [mailboxes.aliases, <Foreign text={mailbox.aliases.join(', ') || frame.none} />],
              [mailboxes.usage, <Usage context={context} mailbox={mailbox} />],
              [mailboxes.messages, formats.number(mailbox.messageCount)],
              [
                mailboxes.vacation,
                <a href="/mailbox/vacation">
                  {mailbox.vacation ? myMailbox.vacationIsOn : myMailbox.vacationIsOff}
                </a>,
              ],
              [
                mailboxes.forwarding,
                <a href="/mailbox/forwarding">
                  <Foreign text={mailbox.forwardTo.join(', ') || frame.none} />
                </a>,
              ],
              [mailboxes.lastLogin, <Time context={context} at={mailbox.lastLoginAt} />],
            ]}
          />
          <p>
            {myMailbox.managed} <a href="/mailbox/app-passwords">{texts.appPasswords.title}</a>
          </p>
          {await mailSettings(context, '')}
          <section aria-labelledby="zone">
            <h2 id="zone">{texts.account.timeZone}</h2>
            <Form context={context} action="zone" submit={frame.save}>
              <Field
                context={context}
                action="zone"
                name="timeZone"
                label={texts.account.timeZone}
                value={mailbox.timeZone ?? ''}
                help={texts.account.timeZoneHelp}
              />
            </Form>
          </section>
        </>
      ),
    };
  },
  actions: {
    zone: {
      logs: ['timeZone'],
      async run({ api }, form) {
        const timeZone = fieldOf(form, 'timeZone').trim();
        await api.patch('', { timeZone: timeZone === '' ? null : timeZone });
        return { to: '/mailbox', said: 'saved' };
      },
    },
  },
});
