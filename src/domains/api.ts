/** `/v1/domains` (specification 4.3): create, list, retrieve, verify, update, delete. */
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { App } from '../app.ts';
import { refuseImmutable } from '../http/immutable-fields.ts';
import { listEnvelope, type PageQuery, pageQuery, pageRequest, pageSchema } from '../http/page.ts';
import { problemSchema } from '../http/problem.ts';
import { callerOf } from '../tenants/authenticate.ts';
import { createDomain } from './create.ts';
import { deleteDomain } from './delete.ts';
import { createKeyPairs } from './key-pairs.ts';
import {
  type DomainChange,
  domainChangeSchema,
  domainSchema,
  type NewDomain,
  newDomainSchema,
  showDomain,
} from './schemas.ts';
import { type Domain, getDomain, listDomains } from './store.ts';
import { updateDomain } from './update.ts';
import { verifyDomain } from './verify.ts';

type DomainApp = Pick<App, 'db' | 'clock' | 'random' | 'notices' | 'config' | 'dns' | 'sealer'>;
type ById = { Params: { id: string } };

const tags = ['Domains'];
const params = Type.Object({ id: Type.String() });

export function registerDomainsApi(server: FastifyInstance, app: DomainApp): void {
  const show = (domain: Domain) => showDomain(app.config, domain);
  const creating = { ...app, keyPairs: createKeyPairs() };

  server.post<{ Body: NewDomain }>(
    '/domains',
    {
      config: { needs: 'write' },
      schema: {
        summary: 'Add a domain',
        tags,
        body: newDomainSchema,
        response: { 201: domainSchema, '4xx': problemSchema },
      },
    },
    async (request, reply) => {
      const domain = await createDomain(creating, callerOf(request).tenantId, request.body);
      return reply.code(201).send(show(domain));
    },
  );
  server.get<{ Querystring: PageQuery }>(
    '/domains',
    {
      config: { needs: 'read' },
      schema: {
        summary: 'List domains',
        tags,
        querystring: Type.Object(pageQuery),
        response: { 200: pageSchema(domainSchema), '4xx': problemSchema },
      },
    },
    async (request) => {
      const page = pageRequest(request.query, 'dom');
      return listEnvelope(
        request.query,
        await listDomains(app.db.read, callerOf(request).tenantId, page),
        show,
      );
    },
  );
  server.get<ById>(
    '/domains/:id',
    {
      config: { needs: 'read' },
      schema: {
        summary: 'Retrieve a domain',
        tags,
        params,
        response: { 200: domainSchema, '4xx': problemSchema },
      },
    },
    async (request) => show(await getDomain(app.db.read, callerOf(request).tenantId, request.params.id)),
  );
  registerDomainActions(server, app);
}

function registerDomainActions(server: FastifyInstance, app: DomainApp): void {
  server.post<ById>(
    '/domains/:id/verify',
    {
      config: { needs: 'write' },
      schema: {
        summary: 'Check the DNS records of a domain now',
        tags,
        params,
        response: { 200: domainSchema, '4xx': problemSchema },
      },
    },
    async (request) =>
      showDomain(app.config, await verifyDomain(app, callerOf(request).tenantId, request.params.id)),
  );
  server.patch<ById & { Body: DomainChange }>(
    '/domains/:id',
    {
      config: { needs: 'write' },
      preValidation: refuseImmutable([domainSchema], domainChangeSchema),
      schema: {
        summary: 'Update a domain',
        tags,
        params,
        body: domainChangeSchema,
        response: { 200: domainSchema, '4xx': problemSchema },
      },
    },
    async (request) => {
      const { tenantId } = callerOf(request);
      return showDomain(app.config, await updateDomain(app, tenantId, request.params.id, request.body));
    },
  );
  server.delete<ById>(
    '/domains/:id',
    {
      config: { needs: 'write' },
      schema: {
        summary: 'Delete a domain',
        tags,
        params,
        response: { 204: Type.Null({ description: 'Deleted' }), '4xx': problemSchema },
      },
    },
    async (request, reply) => {
      await deleteDomain(app, callerOf(request).tenantId, request.params.id);
      return reply.code(204).send();
    },
  );
}
