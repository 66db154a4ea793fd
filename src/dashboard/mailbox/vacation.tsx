/** The automatic reply of a mailbox. */
import type { Static } from 'typebox';
import type { mailboxSchema } from '../../mailboxes/schemas.ts';
import { Heading, Status } from '../frame/elements.tsx';
import { ActionButton, Field, Form } from '../frame/forms.tsx';
import { isoTimeOf, localTimeOf } from '../local-time.ts';
import { type Contexts, definePage, fieldOf } from '../page.ts';

const PAGE = '/mailbox/vacation';
/** Lines of the field of the text. */
const LINES = 8;

export const vacationPage = definePage({
  area: 'mailbox',
  path: '/vacation',
  menu: { group: 'mailbox', label: ({ myMailbox }) => myMailbox.vacation },
  async show(context) {
    const { api, texts } = context;
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
            <Moment context={context} name="from" at={vacation?.from} help={myMailbox.fromHelp} />
            <Moment context={context} name="until" at={vacation?.until} help={myMailbox.untilHelp} />
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
      async run({ api, formats: { timeZone } }, form) {
        const subject = fieldOf(form, 'subject').trim();
        const vacation = {
          from: timeOf(fieldOf(form, 'from'), timeZone),
          until: timeOf(fieldOf(form, 'until'), timeZone),
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

type MomentProps = {
  context: Contexts['mailbox'];
  name: 'from' | 'until';
  at: string | null | undefined;
  help: string;
};

/** A field with a time. A mailbox has no zone of its own, so its times are in UTC, which their labels name. */
function Moment({ context, name, at, help }: MomentProps) {
  const { formats, texts } = context;
  return (
    <Field
      context={context}
      action="set"
      name={name}
      type="datetime-local"
      label={texts.myMailbox[name](formats.timeZone)}
      value={at ? localTimeOf(at, formats.timeZone) : ''}
      help={help}
    />
  );
}

function timeOf(text: string, timeZone: string): string | null {
  return text === '' ? null : isoTimeOf(text, timeZone);
}
