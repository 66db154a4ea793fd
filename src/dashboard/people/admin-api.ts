/** The operator's routes for people, on the control socket: links for operators and owners, and the list of operators. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../../app.ts';
import type { Tx } from '../../db/operation.ts';
import type { Role } from '../../db/people-tables.ts';
import type { TenantRow } from '../../db/tenant-tables.ts';
import { AppError, orNotFound } from '../../system/errors.ts';
import { getTenant, listTenants } from '../../tenants/store.ts';
import { originOf } from '../origin.ts';
import { readEmail } from './fields.ts';
import { LINK_MS, type LinkGrant, makeLoginLink } from './invite.ts';
import { listMemberships } from './memberships-store.ts';
import { deletePerson, findPersonByEmail, hasOperator, listOperators } from './store.ts';

const linkSchema = Type.Object({
  email: Type.Optional(
    Type.String({ description: 'Address of the person; without it, the first operator is made.' }),
  ),
  tenant: Type.Optional(Type.String({ description: 'Id or name of the tenant that the person joins.' })),
  role: Type.Optional(Type.Enum(['owner', 'admin', 'viewer'])),
  operator: Type.Optional(Type.Boolean({ description: 'True when the person operates the installation.' })),
});
type LinkBody = { email?: string; tenant?: string; role?: Role; operator?: boolean };

/** The maker of a link of the command line, as lists of links name it. It has every right. */
const BY_COMMAND = { madeBy: 'command line', makerId: null } as const;

/** Registers the routes. */
export function registerPeopleAdmin(server: FastifyInstance, app: App): void {
  server.post<{ Body: LinkBody }>('/people/links', { schema: { body: linkSchema } }, async ({ body }) => {
    const path = await makeLoginLink(app, await grantOf(app, body));
    return { url: originOf(app.config) + path, expiresAt: new Date(app.clock.now() + LINK_MS).toISOString() };
  });
  server.get('/people/operators', async () =>
    (await listOperators(app.db.read)).map(({ id, email, name }) => ({ id, email, name })),
  );
  server.delete<{ Params: { email: string } }>('/people/:email', async ({ params }) => {
    const person = orNotFound(await findPersonByEmail(app.db.read, readEmail(params.email)), 'Person');
    const memberships = await listMemberships(app.db.read, person.id);
    await app.db.commit(deletePerson, person.id);
    return { id: person.id, email: person.email, tenants: memberships.map(({ tenantName }) => tenantName) };
  });
}

/**
 * Makes the link to set up the dashboard; undefined when somebody operates the installation already. `address` is the URL that the API listens
 * on, whose port a link for this machine has.
 */
export async function makeSetUpLink(
  app: Pick<App, 'db' | 'clock' | 'config'>,
  address: string,
): Promise<string | undefined> {
  if (await hasOperator(app.db.read)) return undefined;
  const { port } = new URL(address);
  const origin = originOf({ ...app.config, http: { ...app.config.http, port: Number(port) } });
  return origin + (await makeLoginLink(app, await setUpGrant(app.db.read, null)));
}

/** Returns what the link of the first operator grants, who also owns a tenant: the named one, or the only one that there is. */
async function setUpGrant(tx: Tx, named: TenantRow['id'] | null): Promise<LinkGrant> {
  const tenants = await listTenants(tx);
  const only = tenants.length === 1 ? (tenants[0]?.id ?? null) : null;
  const tenantId = named ?? only;
  const role = tenantId === null ? null : 'owner';
  return { ...BY_COMMAND, kind: 'set_up', email: null, tenantId, role, isOperator: 1, personId: null };
}

/**
 * Returns what a link grants: a new password to a person that exists and joins nothing, and an invitation otherwise.
 * @throws AppError validation_error, not_found
 */
async function grantOf({ db }: Pick<App, 'db'>, body: LinkBody): Promise<LinkGrant> {
  const tenant = body.tenant === undefined ? undefined : await getTenant(db.read, body.tenant);
  const tenantId = tenant?.id ?? null;
  const role = tenant ? (body.role ?? 'owner') : null;
  if (body.email === undefined) {
    if (await hasOperator(db.read))
      throw new AppError(
        'validation_error',
        'The installation has an operator: name the `email` of the person',
      );
    return setUpGrant(db.read, tenantId);
  }
  const email = readEmail(body.email);
  const isOperator = body.operator === true ? (1 as const) : (0 as const);
  const person = await findPersonByEmail(db.read, email);
  if (person && tenantId === null && isOperator === 0) {
    const { id: personId } = person;
    return { ...BY_COMMAND, kind: 'recovery' as const, email: null, tenantId, role, isOperator, personId };
  }
  if (tenantId === null && isOperator === 0)
    throw new AppError(
      'validation_error',
      'Name the `tenant` that the person joins, or make it an `operator`',
    );
  return { ...BY_COMMAND, kind: 'invitation' as const, email, tenantId, role, isOperator, personId: null };
}
