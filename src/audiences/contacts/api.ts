/** `/v1/audiences/{audienceId}/contacts` (specification 4.8, api.md 1.6). A contact is named by its id or its address. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../../app.ts';
import type { ContactRow } from '../../db/marketing-tables.ts';
import { paramsOf, resourceRoutes } from '../../http/resource.ts';
import { addressKey } from '../../mail/address.ts';
import { newId } from '../../system/ids.ts';
import { callerOf } from '../../tenants/authenticate.ts';
import { getAudience } from '../store.ts';
import { changeContact, createContact, deleteContact } from './change.ts';
import { findAddress, readContactFields } from './fields.ts';
import { contactChangeSchema, contactSchema, type NewContact, newContactSchema } from './schemas.ts';
import { showContact } from './show.ts';
import { type ContactFilter, getContact, listContacts, withLiveTopics } from './store.ts';

type ContactsApp = Pick<App, 'db' | 'clock' | 'wakeups'>;

const PATH = '/audiences/:audienceId/contacts';
/** The names of properties are the caller's own. */
const config = { refuses: ['already_exists'], anyKey: true } as const;
const BY_ADDRESS = 'By its id, or by the address, percent-encoded and in any case.';
const query = {
  email: Type.Optional(Type.String({ description: 'The whole address, in any case of letters.' })),
  unsubscribed: Type.Optional(Type.Boolean({ description: 'Of all marketing mail.' })),
};

export function registerContactsApi(server: FastifyInstance, app: ContactsApp): void {
  registerCreate(server, app);
  const contacts = resourceRoutes<ContactRow>(server, {
    name: 'contact',
    tag: 'Contacts',
    path: PATH,
    prefix: 'ct',
    schema: contactSchema,
    show: showContact,
  });
  contacts.list({ query }, async (request, page) => {
    const { tenantId } = callerOf(request);
    const audience = await getAudience(app.db.read, tenantId, request.params.audienceId);
    const filter = readFilter(request.query);
    const found = await listContacts(app.db.read, tenantId, audience.id, { ...page, ...filter });
    return { ...found, items: await withLiveTopics(app.db.read, tenantId, found.items) };
  });
  contacts.get({ description: BY_ADDRESS }, async (request) => {
    const { tenantId } = callerOf(request);
    const audience = await getAudience(app.db.read, tenantId, request.params.audienceId);
    const stored = await getContact(app.db.read, tenantId, audience.id, request.params.id);
    const [contact = stored] = await withLiveTopics(app.db.read, tenantId, [stored]);
    return contact;
  });
  contacts.update(
    {
      body: contactChangeSchema,
      description: `${BY_ADDRESS} What is left out stays as it is; null empties a name. \`unsubscribed: false\` brings back one that had unsubscribed.`,
      ...config,
    },
    async (request) => {
      const fields = readContactFields(request.body);
      const contact = await app.db.commit(changeContact, { ...asked(app, request), fields });
      app.wakeups.notify('events');
      return contact;
    },
  );
  contacts.delete({ description: BY_ADDRESS }, async (request) => {
    await app.db.commit(deleteContact, asked(app, request));
    app.wakeups.notify('events');
  });
}

type CreateRequest = { Params: { audienceId: string }; Body: NewContact; Querystring: { upsert?: boolean } };

function registerCreate(server: FastifyInstance, app: ContactsApp): void {
  const schema = {
    operationId: 'createContact',
    summary: 'Create a contact',
    description:
      'Returns the whole contact. An address is in an audience once: `?upsert=true` updates the contact that has it.',
    tags: ['Contacts'],
    ...paramsOf(PATH),
    querystring: Type.Object({
      upsert: Type.Optional(
        Type.Boolean({
          default: false,
          description:
            'Update the contact that has the address already. Who has unsubscribed, or left a topic, stays out.',
        }),
      ),
    }),
    body: newContactSchema,
    response: { 200: contactSchema, 201: contactSchema },
  };
  server.post<CreateRequest>(PATH, { config, schema }, async (request, reply) => {
    const { tenantId, mode } = callerOf(request);
    const now = app.clock.now();
    const fields = readContactFields(request.body);
    const wanted = { ...fields, id: newId('ct', now), tenantId, now };
    const { audienceId } = request.params;
    const upsert = request.query.upsert === true;
    const { contact, isNew } = await app.db.commit(createContact, { wanted, audienceId, mode, upsert });
    app.wakeups.notify('events');
    return reply.code(isNew ? 201 : 200).send(showContact(contact));
  });
}

type ItemRequest = FastifyRequest<{ Params: { audienceId: string; id: string } }>;

function asked({ clock }: Pick<App, 'clock'>, request: ItemRequest) {
  const { tenantId, mode } = callerOf(request);
  const { audienceId, id: idOrAddress } = request.params;
  return { tenantId, mode, audienceId, idOrAddress, now: clock.now() };
}

/** What is no address equals none. */
function readFilter({ email, unsubscribed }: { email?: string; unsubscribed?: boolean }): ContactFilter {
  return {
    ...(email !== undefined && { address: findAddress(email) ?? addressKey(email) }),
    ...(unsubscribed !== undefined && { unsubscribed }),
  };
}
