/**
 * Says of each operation of the API what a key that is limited to one domain may do with it. The server does not start with an operation that the
 * table lacks, and test/tenancy/ tries each of them with such keys.
 *
 * - `domain`: the operation reaches what belongs to the domain of the key. Other ids are not found, lists leave the rest out, and a request
 *   that names another domain is refused. The stores of the resources see to it with the conditions of domains/reach.ts.
 * - `tenant`: the operation reaches resources that the domains of a tenant share, and the key works as any other.
 * - `none`: the operation is refused.
 */
import type { FastifyInstance } from 'fastify';
import { AppError } from '../system/errors.ts';
import { callerOf } from './authenticate.ts';

type DomainReach = 'domain' | 'tenant' | 'none';

const OPERATIONS: Readonly<Record<DomainReach, readonly string[]>> = {
  domain: [
    // An email and a broadcast belong to the domain that they are sent from.
    ...['sendEmail', 'sendBatch', 'listEmails', 'getEmail', 'rescheduleEmail', 'cancelEmail'],
    ...['createBroadcast', 'listBroadcasts', 'getBroadcast', 'updateBroadcast', 'deleteBroadcast'],
    ...['testBroadcast', 'preflightBroadcast'],
    ...['sendBroadcast', 'pauseBroadcast', 'resumeBroadcast', 'cancelBroadcast'],
    ...['listBroadcastRecipients', 'exportBroadcastRecipients', 'listClickedLinks', 'exportClickedLinks'],
    // The counts of metrics are those of emails.
    'getMetrics',
    ...['listDomains', 'getDomain', 'updateDomain', 'deleteDomain', 'verifyDomain', 'listDomainReports'],
    // A route belongs to the domain of its address, and a message to the domains of those recipients that have a route.
    ...['createInboundRoute', 'listInboundRoutes', 'getInboundRoute', 'updateInboundRoute'],
    ...['deleteInboundRoute', 'testInboundRoute'],
    ...['listInboundMessages', 'getInboundMessage', 'getRawInboundMessage', 'getInboundAttachment'],
    'replayInboundMessage',
    // An endpoint has the domain of the key that made it, and gets the events of that domain.
    ...['createWebhookEndpoint', 'listWebhookEndpoints', 'getWebhookEndpoint', 'updateWebhookEndpoint'],
    ...['deleteWebhookEndpoint', 'rotateWebhookSecret', 'testWebhookEndpoint'],
    ...['listWebhookDeliveries', 'getWebhookDelivery', 'replayWebhookDelivery', 'replayWebhookDeliveries'],
    // A mailbox belongs to the domain of its address.
    ...['listMailboxes', 'getMailbox', 'listAppPasswords', 'getAppPassword'],
    ...['listMailboxImports', 'getMailboxImport', 'getMailboxImportErrors'],
    // An export of a broadcast belongs to its domain, and any other export to the tenant.
    ...['listExports', 'getExport', 'deleteExport', 'getExportFile'],
  ],
  tenant: [
    ...['createTemplate', 'listTemplates', 'getTemplate', 'updateTemplate', 'deleteTemplate'],
    ...['createTopic', 'listTopics', 'getTopic', 'updateTopic', 'deleteTopic'],
    // A sender of an audience must be at the domain of the key.
    ...['createAudience', 'listAudiences', 'getAudience', 'updateAudience', 'deleteAudience'],
    ...['createContact', 'listContacts', 'getContact', 'updateContact', 'deleteContact'],
    ...['importContacts', 'exportContacts'],
    ...['createSegment', 'listSegments', 'getSegment', 'updateSegment', 'deleteSegment'],
    ...['listSegmentContacts', 'countSegment'],
    ...['createSuppression', 'listSuppressions', 'getSuppression', 'deleteSuppression'],
    ...['createSuppressions', 'deleteSuppressions', 'importSuppressions', 'exportSuppressions'],
    ...['listImports', 'getImport', 'deleteImport', 'getImportErrors'],
    'getPlan',
    // Any key may revoke itself. The operation refuses a limited key that asks for another one.
    'deleteApiKey',
  ],
  none: [
    'createDomain',
    // The password of a mailbox sends from all its addresses.
    ...['createMailbox', 'updateMailbox', 'deleteMailbox', 'createAppPassword', 'deleteAppPassword'],
    ...['createMailboxImport', 'deleteMailboxImport'],
    // A limited key must not make one with fewer limits.
    ...['createApiKey', 'listApiKeys', 'getApiKey', 'updateApiKey'],
  ],
};

/** The reach of each operation, by its `operationId`. */
export const DOMAIN_REACH: ReadonlyMap<string, DomainReach> = new Map(
  (Object.keys(OPERATIONS) as DomainReach[]).flatMap((reach) =>
    OPERATIONS[reach].map((operation) => [operation, reach] as const),
  ),
);

/** Refuses keys of one domain where the table says so, on every route registered on `scope` afterwards. It needs `requireApiKey`. */
export function limitDomainKeys(scope: FastifyInstance): void {
  const operationOf = (schema: unknown) =>
    (schema as { operationId?: string } | undefined)?.operationId ?? '';
  scope.addHook('onRoute', ({ schema, url }) => {
    if (DOMAIN_REACH.has(operationOf(schema))) return;
    throw new Error(`tenants/domain-reach.ts does not say what a key of one domain may do at ${url}`);
  });
  scope.addHook('onRequest', (request, _reply, done) => {
    if (request.is404 || callerOf(request).domainId === null) return done();
    const reach = DOMAIN_REACH.get(operationOf(request.routeOptions.schema));
    done(reach === 'none' ? refusal() : undefined);
  });
}

function refusal(): AppError {
  return new AppError(
    'restricted_api_key',
    'This API key is limited to one domain, and does not permit this request',
  );
}
