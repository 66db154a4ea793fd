/** Routes of `/v1/audiences/{audienceId}/contacts` (specification 4.8). A path names a contact by its id or its address. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../../app.ts';
import type { ContactRow } from '../../db/marketing-tables.ts';
import { paramsOf, resourceRoutes } from '../../http/json/resource.ts';
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
/** Routes that take a contact accept any key in the body, because the names of properties are the caller's own. */
const config = { refuses: ['already_exists'], anyKey: true } as const;
const BY_ADDRESS =
  'The path names the contact by its id, or by its address, percent-encoded and in any case of letters.';
const query = {
  email: Type.Optional(Type.String({ description: 'The whole address, in any case of letters.' })),
  unsubscribed: Type.Optional(
    Type.Boolean({ description: 'True for contacts that are unsubscribed from all marketing mail.' }),
  ),
};

/** Adds the routes of contacts to the server. */
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
    const found = await listContacts(app.db.read, tenantId, { audienceId: audience.id, ...page, ...filter });
    return { ...found, items: await withLiveTopics(app.db.read, tenantId, found.items) };
  });
  contacts.get({ description: BY_ADDRESS }, async (request) => {
    const { tenantId } = callerOf(request);
    const audience = await getAudience(app.db.read, tenantId, request.params.audienceId);
    const key = { audienceId: audience.id, idOrAddress: request.params.id };
    const stored = await getContact(app.db.read, tenantId, key);
    const [contact = stored] = await withLiveTopics(app.db.read, tenantId, [stored]);
    return contact;
  });
  contacts.update(
    {
      body: contactChangeSchema,
      description: `${BY_ADDRESS} Fields that are left out stay as they are; null empties a name. \`unsubscribed: false\` subscribes a contact again.`,
      ...config,
    },
    async (request) => {
      const fields = readContactFields(request.body);
      const contact = await app.db.commit(changeContact, { ...readTarget(app, request), fields });
      app.wakeups.notify('events');
      return contact;
    },
  );
  contacts.delete({ description: BY_ADDRESS }, async (request) => {
    await app.db.commit(deleteContact, readTarget(app, request));
    app.wakeups.notify('events');
  });
}

type CreateRequest = { Params: { audienceId: string }; Body: NewContact; Querystring: { upsert?: boolean } };

function registerCreate(server: FastifyInstance, app: ContactsApp): void {
  const schema = {
    operationId: 'createContact',
    summary: 'Create a contact',
    description:
      'Returns the contact. An address can be in an audience only once; `?upsert=true` updates the contact that has it.',
    tags: ['Contacts'],
    ...paramsOf(PATH),
    querystring: Type.Object({
      upsert: Type.Optional(
        Type.Boolean({
          default: false,
          description:
            'Update the contact that has the address already. It stays unsubscribed, and opted out of topics, if it is.',
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

function readTarget({ clock }: Pick<App, 'clock'>, request: ItemRequest) {
  const { tenantId, mode } = callerOf(request);
  const { audienceId, id: idOrAddress } = request.params;
  return { tenantId, mode, audienceId, idOrAddress, now: clock.now() };
}

/** Reads the filter of a list. Text that is not an address matches no contact. */
function readFilter({ email, unsubscribed }: { email?: string; unsubscribed?: boolean }): ContactFilter {
  return {
    ...(email !== undefined && { address: findAddress(email) ?? addressKey(email) }),
    ...(unsubscribed !== undefined && { unsubscribed }),
  };
}
