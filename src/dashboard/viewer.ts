/**
 * Finds out who asks for a page: it reads the session, the person with its tenants, or the mailbox, and makes of them what pages of an area
 * know. What somebody may not see is not found, exactly as what does not exist.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Role, SessionRow } from '../db/people-tables.ts';
import type { Permission } from '../db/tenant-tables.ts';
import { callsOf } from '../http/json/calls.ts';
import { preferredLanguage } from '../http/pages/accept-language.ts';
import type { Channel } from '../http/transport/channel.ts';
import { notFound } from '../system/errors.ts';
import { isTimeZone } from '../system/time-zone.ts';
import { actAsPerson, type PersonCaller } from '../tenants/authenticate.ts';
import { actAsPage } from './audit/commands.ts';
import { SAID } from './field-names.ts';
import { formatsOf } from './formats.ts';
import { tenantPath } from './frame/layout.tsx';
import type { Area, BaseContext, Contexts, DashboardApp, Right } from './page.ts';
import { browserOrigin, cookieHeader, readCookie } from './people/cookie.ts';
import { KNOWN_MS, type KnownAccount } from './people/known-devices.ts';
import { findMailboxOf } from './people/mailbox-login.ts';
import { listMemberships, type Membership } from './people/memberships-store.ts';
import { LOGIN_MS } from './people/openid.ts';
import { SESSION_MS } from './people/people.ts';
import { findPerson } from './people/store.ts';
import { TranslatedRefusal } from './texts/refusal.ts';
import { isLanguage, isSaid, type Language, textsOf } from './texts/texts.ts';
import { sessionOfRequest } from './visitors.ts';

/** Servers that pages are clients of. They are made after the dashboard, so they are asked for when they are needed. */
export type Servers = { api: Server; operator: Server };
type Server = Parameters<typeof callsOf>[0];

/** Everything that a request brings. */
export type Asked = {
  request: FastifyRequest;
  reply: FastifyReply;
  channel: Channel;
  /** Key of the form, which becomes the idempotency key of what it asks for. */
  once?: string;
};

/** Reports that nobody is logged in, or not as whom the page is for. The answer leads to the page to log in. */
export class LoginNeeded extends Error {
  override readonly name = 'LoginNeeded';
  readonly area: Area;
  /** Address of the page whose form was kept as a draft, to which the login leads. */
  readonly draftAt: string | undefined;

  constructor(area: Area, draftAt?: string) {
    super('nobody is logged in');
    this.area = area;
    this.draftAt = draftAt;
  }
}

/** What each role may do. */
const RIGHTS: Record<Role, readonly Right[]> = {
  owner: ['read', 'write', 'manage'],
  admin: ['read', 'write'],
  viewer: ['read'],
};
const PERMISSIONS: Record<Role, Permission> = {
  owner: 'full_access',
  admin: 'full_access',
  viewer: 'read_only',
};

/**
 * Returns the context of a page.
 * @throws LoginNeeded, AppError not_found
 */
export async function contextFor<Of extends Area>(
  app: DashboardApp,
  servers: Servers,
  { area, asked }: { area: Of; asked: Asked },
): Promise<Contexts[Of]> {
  const makers: { [Each in Area]: () => Promise<Contexts[Each]> } = {
    public: () => publicContext(app, asked),
    account: () => personContext(app, asked, 'account'),
    tenant: () => tenantContext(app, servers, asked),
    operator: () => operatorContext(app, servers, asked),
    mailbox: () => mailboxContext(app, servers, asked),
  };
  return makers[area]();
}

function baseContext(
  app: DashboardApp,
  { request, channel }: Asked,
  chosen: { language: string | null; timeZone: string | null } = { language: null, timeZone: null },
): BaseContext {
  const [path = '', search = ''] = request.url.split('?', 2);
  const query = new URLSearchParams(search);
  const said = query.get(SAID) ?? '';
  query.delete(SAID);
  const language = languageOf(request, chosen.language);
  const timeZone = chosen.timeZone !== null && isTimeZone(chosen.timeZone) ? chosen.timeZone : 'UTC';
  return {
    app,
    path,
    params: request.params as Record<string, string>,
    query,
    ...(isSaid(said) && { said }),
    texts: textsOf(language),
    formats: formatsOf(language, timeZone),
    origin: browserOrigin(request, channel, app.config),
    clientAddress: request.clientAddress,
    userAgent: request.headers['user-agent'] ?? '',
  };
}

/** Returns the language of a request: the chosen one, or one that the browser prefers. */
export function languageOf(request: FastifyRequest, chosen: string | null = null): Language {
  if (chosen !== null && isLanguage(chosen)) return chosen;
  return preferredLanguage(request.headers['accept-language'] ?? '', isLanguage) ?? 'en';
}

function exchangeOf({ people }: Pick<DashboardApp, 'people'>, { request, reply, channel }: Asked) {
  const knownDevice = readCookie(request, channel, 'device');
  const set = (name: 'session' | 'openid' | 'device', value: string | undefined, lastsMs: number) =>
    void reply.header('set-cookie', cookieHeader(channel, { name, value, maxAgeSeconds: lastsMs / 1000 }));
  return {
    sessionToken: readCookie(request, channel, 'session'),
    setSession: (token: string | undefined) => set('session', token, SESSION_MS),
    knownDevice,
    keepDevice: (owner: KnownAccount) => set('device', people.devices.renew(knownDevice, owner), KNOWN_MS),
    openIdLogin: readCookie(request, channel, 'openid'),
    setOpenIdLogin: (sealed: string | undefined) => set('openid', sealed, LOGIN_MS),
  };
}

async function publicContext(app: DashboardApp, asked: Asked): Promise<Contexts['public']> {
  return { ...baseContext(app, asked), ...exchangeOf(app, asked), isPlain: asked.channel === 'plain' };
}

function sessionOf({ request }: Asked, area: Area): SessionRow {
  const session = sessionOfRequest(request);
  if (!session) throw new LoginNeeded(area);
  return session;
}

async function personContext(app: DashboardApp, asked: Asked, area: Area): Promise<Contexts['account']> {
  const session = sessionOf(asked, area);
  const person = session.personId && (await findPerson(app.db.read, session.personId));
  if (!person) throw new LoginNeeded(area);
  const memberships = await listMemberships(app.db.read, person.id);
  return { ...baseContext(app, asked, person), ...exchangeOf(app, asked), person, session, memberships };
}

async function tenantContext(app: DashboardApp, servers: Servers, asked: Asked): Promise<Contexts['tenant']> {
  const context = await personContext(app, asked, 'tenant');
  const { params, memberships, person } = context;
  const tenant = memberships.find(({ tenantName }) => tenantName === params['tenant']);
  const mode = params['mode'];
  if (!tenant || (mode !== 'live' && mode !== 'test')) throw notFound('Page');
  const prefix = tenantPath(tenant.tenantName, mode);
  const asMember: PersonCaller = {
    tenantId: tenant.tenantId,
    mode,
    personId: person.id,
    permission: permissionIn(tenant),
  };
  return {
    ...context,
    tenant,
    mode,
    api: callsOf(servers.api, {
      prefix: '/v1',
      clientAddress: context.clientAddress,
      mark: (raw) => actAsPerson(raw, asMember),
      ...(asked.once !== undefined && { idempotencyKey: asked.once }),
    }),
    can: (right) => mayIn(tenant, right),
    at: (path) => prefix + path,
  };
}

/** A tenant that the operator has suspended can be looked at, and changes nothing. */
function permissionIn({ role, status }: Membership): Permission {
  return status === 'active' ? PERMISSIONS[role] : 'read_only';
}

function mayIn({ role, status }: Membership, right: Right): boolean {
  return RIGHTS[role].includes(right) && (status === 'active' || right === 'read');
}

async function operatorContext(
  app: DashboardApp,
  servers: Servers,
  asked: Asked,
): Promise<Contexts['operator']> {
  const context = await personContext(app, asked, 'operator');
  if (context.person.isOperator === 0) throw notFound('Page');
  const { clientAddress } = context;
  return { ...context, operator: callsOf(servers.operator, { prefix: '', clientAddress, mark: actAsPage }) };
}

async function mailboxContext(
  app: DashboardApp,
  servers: Servers,
  asked: Asked,
): Promise<Contexts['mailbox']> {
  const session = sessionOf(asked, 'mailbox');
  const mailbox = await findMailboxOf(app, session);
  if (!mailbox) throw new LoginNeeded('mailbox');
  const base = baseContext(app, asked, { language: null, timeZone: mailbox.timeZone });
  // The owner has no role in the tenant. It reaches the operations of this mailbox alone, because their paths begin behind its id.
  const owner: PersonCaller = {
    tenantId: mailbox.tenantId,
    mode: 'live',
    personId: null,
    permission: 'full_access',
  };
  const api = callsOf(servers.api, {
    prefix: `/v1/mailboxes/${mailbox.id}`,
    clientAddress: base.clientAddress,
    mark: (raw) => actAsPerson(raw, owner),
    ...(asked.once !== undefined && { idempotencyKey: asked.once }),
  });
  return { ...base, ...exchangeOf(app, asked), mailbox, session, api };
}

/**
 * Checks that a member has a right.
 * @throws AppError restricted_api_key, which is the 403 of the API
 */
export function requireRight(context: Contexts[Area], right: Right): void {
  if (!('can' in context) || context.can(right)) return;
  throw new TranslatedRefusal('restricted_api_key', context.texts.frame.error.forbiddenText);
}
