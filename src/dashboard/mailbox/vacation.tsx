/** The automatic reply of a mailbox. */
import type { Static } from 'typebox';
import type { mailboxSchema } from '../../mailboxes/schemas.ts';
import { Heading, Status } from '../frame/elements.tsx';
import { ActionButton, Field, Form } from '../frame/forms.tsx';
import { definePage, fieldOf } from '../page.ts';

const PAGE = '/mailbox/vacation';
/** Lines of the field of the text. */
const LINES = 8;

export const vacationPage = definePage({
  area: 'mailbox',
  path: '/vacation',
  menu: { group: 'mailbox', label: ({ myMailbox }) => myMailbox.vacation },
  async show(context) {
    const { api, formats, texts } = context;
    const { myMailbox, frame } = texts;
    const { vacation } = await api.get<Static<typeof mailboxSchema>>('');
    const field = { context, action: 'set' };
    return {
      title: myMailbox.vacation,
      body: (
        <>
          <Heading title={myMailbox.vacation} />
          <p>{myMailbox.vacationText}</p>
          <p>
            <Status tone={vacation ? 'good' : 'neutral'}>
              {vacation ? myMailbox.vacationIsOn : myMailbox.vacationIsOff}
            </Status>
          </p>
          <Form context={context} action="set" submit={frame.save} keepsDraft>
            <Field
              {...field}
              name="from"
              type="datetime-local"
              label={myMailbox.from(formats.timeZone)}
              value={localTime(vacation?.from)}
              help={myMailbox.fromHelp}
            />
            <Field
              {...field}
              name="until"
              type="datetime-local"
              label={myMailbox.until(formats.timeZone)}
              value={localTime(vacation?.until)}
              help={myMailbox.untilHelp}
            />
            <Field
              {...field}
              name="subject"
              label={myMailbox.subject}
              value={vacation?.subject ?? ''}
              help={myMailbox.subjectHelp}
            />
            <Field
              {...field}
              name="text"
              label={myMailbox.text}
              value={vacation?.text ?? ''}
              rows={LINES}
              isRequired
            />
          </Form>
          {vacation && <ActionButton context={context} action="end" submit={myMailbox.vacationEnd} />}
        </>
      ),
    };
  },
  actions: {
    set: {
      logs: ['from', 'until'],
      async run({ api }, form) {
        const subject = fieldOf(form, 'subject').trim();
        const vacation = {
          from: timeOf(fieldOf(form, 'from')),
          until: timeOf(fieldOf(form, 'until')),
          subject: subject === '' ? null : subject,
          text: fieldOf(form, 'text').replaceAll('\r\n', '\n'),
        };
        await api.patch('', { vacation });
        return { to: PAGE, said: 'saved' };
      },
    },
    end: {
      async run({ api }) {
        await api.patch('', { vacation: null });
        return { to: PAGE, said: 'saved' };
      },
    },
  },
});

/** Returns a time as the field of a form has it. A mailbox has no zone of its own, so its times are in UTC, which their labels name. */
function localTime(time: string | null | undefined): string {
  return time ? new Date(time).toISOString().slice(0, 'YYYY-MM-DDThh:mm'.length) : '';
}

function timeOf(text: string): string | null {
  return text === '' ? null : `${text}Z`;
}
