/** Routes of `/v1/audiences/{audienceId}/contacts` (specification 4.8). A path names a contact by its id or its address. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../../app.ts';
import { readAll } from '../../http/json/read-fields.ts';
import { paramsOf, resourceRoutes } from '../../http/json/resource.ts';
import { addressKey } from '../../mail/address.ts';
import { newId } from '../../system/ids.ts';
import { type Caller, callerOf } from '../../tenants/authenticate.ts';
import { readConsentRequest } from '../opt-in/consent.ts';
import type { WithConfirmation } from '../opt-in/request.ts';
import { requesterOf } from '../opt-in/request.ts';
import { optInOf, requireConfirmationSender } from '../opt-in/settings.ts';
import { getAudience } from '../store.ts';
import { changeContact, createContact, deleteContact } from './change.ts';
import { findAddress, readContactFields } from './fields.ts';
import { forShowing } from './for-showing.ts';
import {
  CONTACT_STATUSES,
  type ContactStatus,
  contactChangeSchema,
  contactSchema,
  type NewContact,
  newContactSchema,
} from './schemas.ts';
import { showContact } from './show.ts';
import { type ContactFilter, getContact, listContacts } from './store.ts';

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
  status: Type.Optional(Type.Enum(CONTACT_STATUSES, { description: 'Only contacts in this status.' })),
};

/** Adds the routes of contacts to the server. */
export function registerContactsApi(server: FastifyInstance, app: App): void {
  registerCreate(server, app);
  const contacts = resourceRoutes<WithConfirmation>(server, {
    name: 'contact',
    tag: 'Contacts',
    path: PATH,
    prefix: 'ct',
    schema: contactSchema,
    show: showContact,
  });
  contacts.list({ query }, async (request, page) => {
    const caller = callerOf(request);
    const { tenantId } = caller;
    const audience = await getAudience(app.db.read, tenantId, request.params.audienceId);
    const filter = readFilter(request.query);
    const found = await listContacts(app.db.read, tenantId, { audienceId: audience.id, ...page, ...filter });
    return { ...found, items: await forShowing(app.db.read, caller, found.items) };
  });
  contacts.get({ description: BY_ADDRESS }, async (request) => {
    const caller = callerOf(request);
    const { tenantId } = caller;
    const audience = await getAudience(app.db.read, tenantId, request.params.audienceId);
    const key = { audienceId: audience.id, idOrAddress: request.params.id };
    const stored = await getContact(app.db.read, tenantId, key);
    const [contact = stored] = await forShowing(app.db.read, caller, [stored]);
    return contact;
  });
  contacts.update(
    {
      body: contactChangeSchema,
      description: `${BY_ADDRESS} Fields that are left out stay as they are; null empties a name. \`unsubscribed: false\` subscribes a contact again. A pending contact stays pending, and gets a confirmation mail at a new address.`,
      ...config,
      refuses: [...config.refuses, 'quota_exceeded'],
    },
    async (request) => {
      const fields = readContactFields(request.body);
      const contact = await app.db.commit(changeContact, { ...readTarget(app, request), fields });
      return contact;
    },
  );
  contacts.delete({ description: BY_ADDRESS }, async (request) => {
    await app.db.commit(deleteContact, readTarget(app, request));
  });
}

type CreateRequest = { Params: { audienceId: string }; Body: NewContact; Querystring: { upsert?: boolean } };

function registerCreate(server: FastifyInstance, app: App): void {
  const schema = {
    operationId: 'createContact',
    summary: 'Create a contact',
    description:
      'Returns the contact. An address can be in an audience only once; `?upsert=true` updates the contact that has it. With the status `pending`, its reader gets a confirmation mail, unless the address got one within a day or 3 in all; `confirmation` shows it.',
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
  const refuses = [...config.refuses, 'domain_not_verified', 'restricted_api_key', 'quota_exceeded'] as const;
  server.post<CreateRequest>(PATH, { config: { ...config, refuses }, schema }, async (request, reply) => {
    const caller = callerOf(request);
    const { tenantId } = caller;
    const now = app.clock.now();
    const { fields, pending } = readAll({
      fields: () => readContactFields(request.body),
      pending: () => readConsentRequest(request.body, 'api'),
    });
    const { audienceId } = request.params;
    if (pending) await requireMail(app, caller, audienceId);
    const wanted = { ...fields, id: newId('ct', now), tenantId, now, ...(pending && { pending }) };
    const upsert = request.query.upsert === true;
    const requester = { ...requesterOf(caller), now };
    const created = await app.db.commit(createContact, { wanted, audienceId, requester, upsert });
    const { contact, isNew } = created;
    return reply.code(isNew ? 201 : 200).send(showContact(contact));
  });
}

/**
 * Checks that the sender of confirmation mail can be used. An audience without one is refused by the write.
 * @throws AppError not_found, restricted_api_key, domain_not_verified
 */
async function requireMail(app: App, caller: Caller, audienceId: string): Promise<void> {
  const settings = optInOf(await getAudience(app.db.read, caller.tenantId, audienceId));
  if (settings) await requireConfirmationSender(app, caller, settings);
}

type ItemRequest = FastifyRequest<{ Params: { audienceId: string; id: string } }>;

function readTarget({ clock }: Pick<App, 'clock'>, request: ItemRequest) {
  const caller = callerOf(request);
  const { audienceId, id: idOrAddress } = request.params;
  const { tenantId } = caller;
  return { tenantId, ...requesterOf(caller), audienceId, idOrAddress, now: clock.now() };
}

type GivenFilter = { email?: string; unsubscribed?: boolean; status?: ContactStatus };

/** Reads the filter of a list. Text that is not an address matches no contact. */
function readFilter({ email, unsubscribed, status }: GivenFilter): ContactFilter {
  return {
    ...(email !== undefined && { address: findAddress(email) ?? addressKey(email) }),
    ...(unsubscribed !== undefined && { unsubscribed }),
    ...(status !== undefined && { status }),
  };
}
