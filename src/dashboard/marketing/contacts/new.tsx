/** A form for a new contact of an audience. */
import type { ShownContact } from '../../../audiences/contacts/schemas.ts';
import { path } from '../../../http/json/calls.ts';
import { Foreign, Heading } from '../../frame/elements.tsx';
import { Field, Form, Select } from '../../frame/forms.tsx';
import { definePage, fieldOf } from '../../page.ts';
import type { Audience } from '../audiences/list.tsx';
import { ALL_TOPICS, listNewest } from '../choices.tsx';
import { ContactFields, readContact, type Topic } from './form.tsx';

export const newContactPage = definePage({
  area: 'tenant',
  path: '/audiences/:audienceId/contacts/new',
  needs: 'write',
  async show(context) {
    const { api, params, texts, at } = context;
    const { audiences } = texts;
    const audience = await api.get<Audience>(path`/audiences/${params['audienceId'] ?? ''}`);
    const topics = await listNewest<Topic>(api, '/topics', ALL_TOPICS);
    const field = { context, action: 'create' };
    return {
      title: audiences.newContact,
      body: (
        <>
          <Heading title={audiences.newContact} />
          <p>
            <a href={at(`/audiences/${audience.id}`)}>
              <Foreign text={audience.name} />
            </a>
          </p>
          <Form context={context} action="create" submit={audiences.newContact}>
            <ContactFields context={context} action="create" topics={topics.data} />
            <Select
              {...field}
              name="status"
              label={audiences.status}
              help={audiences.newStatusHelp}
              options={(audience.optIn
                ? (['subscribed', 'pending'] as const)
                : (['subscribed'] as const)
              ).map((value) => ({ value, label: audiences.statuses[value] }))}
            />
            {audience.optIn && <Field {...field} name="consent.requestedIp" label={audiences.requestedIp} />}
          </Form>
        </>
      ),
    };
  },
  actions: {
    create: {
      logs: ['status'],
      async run({ api, at, params }, form) {
        const contacts = path`/audiences/${params['audienceId'] ?? ''}/contacts`;
        const status = fieldOf(form, 'status');
        const requestedIp = fieldOf(form, 'consent.requestedIp').trim();
        const { audienceId, id } = await api.post<ShownContact>(contacts, {
          ...readContact(form),
          status,
          ...(status === 'pending' && requestedIp !== '' && { consent: { requestedIp } }),
        });
        return { to: at(`/audiences/${audienceId}/contacts/${id}`), said: 'created' };
      },
    },
  },
});
