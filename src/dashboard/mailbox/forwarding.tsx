/** The addresses that all mail of a mailbox is forwarded to. */
import type { Static } from 'typebox';
import type { mailboxSchema } from '../../mailboxes/schemas.ts';
import { Heading } from '../frame/elements.tsx';
import { Checkbox, Field, Form } from '../frame/forms.tsx';
import { definePage, linesOf } from '../page.ts';

/** Lines of the field: as many as there may be addresses. */
const LINES = 4;

export const forwardingPage = definePage({
  area: 'mailbox',
  path: '/forwarding',
  menu: { group: 'mailbox', label: ({ myMailbox }) => myMailbox.forwarding },
  async show(context) {
    const { myMailbox, frame } = context.texts;
    const { forwardTo, keepCopy } = await context.api.get<Static<typeof mailboxSchema>>('');
    const field = { context, action: 'set' };
    return {
      title: myMailbox.forwarding,
      body: (
        <>
          <Heading title={myMailbox.forwarding} />
          <p>{myMailbox.forwardingText}</p>
          <Form context={context} action="set" submit={frame.save}>
            <Field
              {...field}
              name="forwardTo"
              label={myMailbox.forwardTo}
              value={forwardTo.join('\n')}
              help={myMailbox.forwardToHelp}
              rows={LINES}
            />
            <Checkbox
              {...field}
              name="keepCopy"
              label={myMailbox.keepCopy}
              isChecked={keepCopy}
              help={myMailbox.keepCopyHelp}
            />
          </Form>
        </>
      ),
    };
  },
  actions: {
    set: {
      logs: ['forwardTo', 'keepCopy'],
      async run({ api }, form) {
        const forwardTo = linesOf(form, 'forwardTo');
        await api.patch('', { forwardTo, keepCopy: form.values('keepCopy').includes('on') });
        return { to: '/mailbox/forwarding', said: 'saved' };
      },
    },
  },
});
