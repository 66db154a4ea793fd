/** A contact: its fields, properties and topics, its consent, the latest emails to it, and its end. */
import type { ShownContact } from '../../../audiences/contacts/schemas.ts';
import { path } from '../../../http/json/calls.ts';
import { Copyable, Facts, Foreign, Heading, Status, Time } from '../../frame/elements.tsx';
import { ActionButton, Disclosure, Form } from '../../frame/forms.tsx';
import { definePage, type TenantContext } from '../../page.ts';
import { CONTACT_TONES } from '../audiences/audience.tsx';
import type { Audience } from '../audiences/list.tsx';
import { ALL_TOPICS, listNewest } from '../choices.tsx';
import { Consent } from './consent.tsx';
import { ContactFields, readContact, type Topic } from './form.tsx';
import { History, historyOf } from './history.tsx';

export const contactPage = definePage({
  area: 'tenant',
  path: '/audiences/:audienceId/contacts/:contactId',
  async show(context) {
    const { api, can, texts, params } = context;
    const contact = await api.get<ShownContact>(pathOf(context));
    const audience = await api.get<Audience>(path`/audiences/${params['audienceId'] ?? ''}`);
    const topics = await listNewest<Topic>(api, '/topics', ALL_TOPICS);
    const emails = await historyOf(context, contact.email);
    return {
      title: contact.email,
      body: (
        <>
          <Heading title={contact.email} />
          <ContactFacts context={context} contact={contact} audience={audience} />
          <Consent context={context} contact={contact} />
          {can('write') ? (
            <>
              <Form context={context} action="save" submit={texts.frame.save}>
                <ContactFields context={context} action="save" topics={topics.data} contact={contact} />
              </Form>
              <Ends context={context} contact={contact} />
            </>
          ) : (
            <Known context={context} contact={contact} topics={topics.data} />
          )}
          <History context={context} email={contact.email} emails={emails} />
        </>
      ),
    };
  },
  actions: {
    save: {
      async run(context, form) {
        const { properties } = await context.api.get<ShownContact>(pathOf(context));
        await context.api.patch(pathOf(context), readContact(form, properties));
        return { to: context.path, said: 'saved' };
      },
    },
    unsubscribe: { run: (context) => setUnsubscribed(context, true) },
    subscribe: { run: (context) => setUnsubscribed(context, false) },
    confirm: {
      async run(context) {
        const { audienceId, email } = await context.api.get<ShownContact>(pathOf(context));
        const contacts = path`/audiences/${audienceId}/contacts`;
        await context.api.post(`${contacts}?upsert=true`, { email, status: 'pending' });
        return { to: context.path, said: 'sent' };
      },
    },
    delete: {
      async run(context) {
        await context.api.delete(pathOf(context));
        return { to: context.at(path`/audiences/${context.params['audienceId'] ?? ''}`), said: 'deleted' };
      },
    },
  },
});

async function setUnsubscribed(context: TenantContext, unsubscribed: boolean) {
  await context.api.patch(pathOf(context), { unsubscribed });
  return { to: context.path, said: 'saved' } as const;
}

function pathOf({ params }: TenantContext): string {
  return path`/audiences/${params['audienceId'] ?? ''}/contacts/${params['contactId'] ?? ''}`;
}

type Props = { context: TenantContext; contact: ShownContact };

function ContactFacts({ context, contact, audience }: Props & { audience: Audience }) {
  const { texts, at } = context;
  const { audiences } = texts;
  const { id, status, createdAt, updatedAt, unsubscribedAt } = contact;
  return (
    <Facts
      facts={[
        [
          audiences.status,
          <Status key="status" tone={CONTACT_TONES[status]}>
            {audiences.statuses[status]}
          </Status>,
        ],
        [
          texts.segments.audience,
          <a key="audience" href={at(`/audiences/${audience.id}`)}>
            <Foreign text={audience.name} />
          </a>,
        ],
        [audiences.added, <Time key="added" context={context} at={createdAt} />],
        [audiences.changed, <Time key="changed" context={context} at={updatedAt} />],
        ...(unsubscribedAt === null
          ? []
          : [[audiences.unsubscribedAt, <Time key="left" context={context} at={unsubscribedAt} />] as const]),
        ['ID', <Copyable key="id" context={context} text={id} />],
      ]}
    />
  );
}

/** The fields for those who may not change them. */
function Known({ context, contact, topics }: Props & { topics: readonly Topic[] }) {
  const { audiences } = context.texts;
  const { firstName, lastName, properties, topics: choices } = contact;
  const names = new Map(topics.map(({ id, name }) => [id, name]));
  return (
    <Facts
      facts={[
        [audiences.fields.firstName, <Foreign key="first" text={firstName} />],
        [audiences.fields.lastName, <Foreign key="last" text={lastName} />],
        ...Object.entries(properties).map(
          ([key, value]) => [key, <Foreign key={key} text={String(value)} />] as const,
        ),
        ...choices.map(
          ({ id, subscription }) =>
            [
              names.get(id) ?? id,
              subscription === 'opt_in' ? audiences.topicIn : audiences.topicOut,
            ] as const,
        ),
      ]}
    />
  );
}

function Ends({ context, contact }: Props) {
  const { audiences, frame } = context.texts;
  const isOut = contact.unsubscribed;
  return (
    <section aria-label={frame.actions}>
      <h2>{frame.actions}</h2>
      <div class="buttons">
        <Disclosure label={isOut ? audiences.subscribe : audiences.unsubscribe}>
          <p>{isOut ? audiences.subscribeText : audiences.unsubscribeText}</p>
          <ActionButton
            context={context}
            action={isOut ? 'subscribe' : 'unsubscribe'}
            submit={isOut ? audiences.subscribe : audiences.unsubscribe}
          />
        </Disclosure>
        <Disclosure label={audiences.deleteContact}>
          <p>{audiences.deleteContactText}</p>
          <ActionButton context={context} action="delete" submit={audiences.deleteContact} isDangerous />
        </Disclosure>
      </div>
    </section>
  );
}
