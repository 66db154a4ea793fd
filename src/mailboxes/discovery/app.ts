/**
 * The app by which mail programs find the settings of an address. Its routes need no login. They answer by the Host of the request and
 * by the domain of the address in it, and never look up whether the address exists.
 */

import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../app.ts';
import { type ClientConfig, type ClientService, clientServices } from '../../domains/client-services.ts';
import { findName, sandboxDomain } from '../../domains/name.ts';
import { findReceiver } from '../../domains/receiving/store.ts';
import { domainHostPurpose } from '../../host-names/purposes.ts';
import { readBody } from '../../http/transport/body.ts';
import { type HostedApp, hostNameOf } from '../../http/transport/host-names.ts';
import { createTransport } from '../../http/transport/server.ts';
import { sendTextError } from '../../http/transport/text-error.ts';
import { parseMailbox } from '../../mail/address.ts';
import { element, textElement, xmlDocument } from '../../mail/xml.ts';
import { orNotFound } from '../../system/errors.ts';
import { formatAppleProfile } from './apple-profile.ts';
import {
  autodiscoverLink,
  formatAutodiscover,
  formatAutodiscoverError,
  OTHER_PROTOCOL,
  readAutodiscover,
} from './autodiscover.ts';
import {
  AUTOCONFIG_PATHS,
  AUTODISCOVER_JSON_PATH,
  AUTODISCOVER_PATH,
  AUTODISCOVER_V2_PATH,
  isDiscoveryPath,
  PROFILE_PATH,
  USER_AGENT_PATH,
} from './paths.ts';

type DiscoveryApp = Pick<App, 'clock' | 'config' | 'db' | 'guards' | 'log' | 'metrics'>;

/** Maximum size of a request of Autodiscover. Those of Outlook have 500 bytes. */
const MAX_BODY_BYTES = 16 * 1024;

/** Programs write the names of parameters, and paths, in any case. */
type Route = { Querystring: Readonly<Record<string, unknown>> };

/** Creates the app, which is served for the hosts of discovery, and for its paths on hosts that serve more. */
export function createDiscoveryApp(app: DiscoveryApp): HostedApp {
  const { guards, metrics, config } = app;
  const server = createTransport(
    app,
    {
      maxBodyBytes: MAX_BODY_BYTES,
      ignoresCase: true,
      sendError: (error, reply) => sendTextError(app, error, { reply, mediaType: 'XML' }),
    },
    {
      metrics,
      bodies: guards.memory.pages,
      trustedProxies: config.http.trustedProxies,
      unauthenticated: { limit: guards.visitors, isAuthenticated: () => false },
    },
  );
  registerXml(server, app);
  registerAutodiscoverJson(server, app);
  server.get<Route>(PROFILE_PATH, async (request, reply) => {
    const { domain, address } = await requireSubject(app, request, addressIn(request));
    return reply
      .type('application/x-apple-aspen-config; charset=utf-8')
      .header('content-disposition', `attachment; filename="${domain}.mobileconfig"`)
      .send(formatAppleProfile(config, { domain, address }));
  });
  server.get<Route>(USER_AGENT_PATH, async (request, reply) => {
    const { domain } = await requireSubject(app, request, addressIn(request));
    return sendJson(reply, userAgentConfiguration(config, domain));
  });
  const hostPurpose = domainHostPurpose(config);
  return {
    app: server,
    serves: (hostName, path) => hostPurpose(hostName) === 'discovery' || isDiscoveryPath(path),
  };
}

function registerXml(server: FastifyInstance, app: DiscoveryApp): void {
  const { config } = app;
  for (const path of AUTOCONFIG_PATHS) {
    server.get<Route>(path, async (request, reply) => {
      const { domain } = await requireSubject(app, request, addressIn(request));
      return sendXml(reply, formatAutoconfig(config, domain));
    });
  }
  server.removeAllContentTypeParsers();
  // Some programs send the XML as something else, or as nothing.
  server.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
    (await readBody(request, payload)).toString(),
  );
  server.post(AUTODISCOVER_PATH, async (request, reply) => {
    const asked = readAutodiscover(typeof request.body === 'string' ? request.body : '');
    if ('refused' in asked) return sendXml(reply, formatAutodiscoverError(asked.refused));
    const subject = await findSubject(app, { host: hostOf(request), address: asked.address });
    return sendXml(
      reply,
      subject?.address === undefined
        ? formatAutodiscoverError('unknown')
        : formatAutodiscover(config, subject.address),
    );
  });
}

function registerAutodiscoverJson(server: FastifyInstance, app: DiscoveryApp): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply, address: string | undefined) => {
    const subject = await requireSubject(app, request, address);
    const link = autodiscoverLink(parameter(request, 'protocol'), autodiscoverUrl(app, request, subject));
    return link ? sendJson(reply, link) : sendJson(reply.code(400), OTHER_PROTOCOL);
  };
  server.get(AUTODISCOVER_JSON_PATH, async (request, reply) =>
    answer(request, reply, parameter(request, 'email')),
  );
  server.get<{ Params: { address: string } }>(`${AUTODISCOVER_V2_PATH}/:address`, async (request, reply) =>
    answer(request, reply, request.params.address),
  );
}

/** Returns the address of the XML at a host of the domain, or else at that of the installation. */
function autodiscoverUrl(
  { config: { http, hostname } }: DiscoveryApp,
  request: FastifyRequest,
  { isOwnHost }: Subject,
): string {
  const origin = isOwnHost ? `https://${hostOf(request)}` : http.publicUrl || `https://${hostname}`;
  return `${origin}${AUTODISCOVER_PATH}`;
}

/**
 * Returns what a request is about.
 * @throws AppError not_found
 */
async function requireSubject(
  app: DiscoveryApp,
  request: FastifyRequest,
  address: string | undefined,
): Promise<Subject> {
  return orNotFound(await findSubject(app, { host: hostOf(request), address }), 'Path');
}

function hostOf(request: FastifyRequest): string {
  return hostNameOf(request.headers.host ?? '');
}

/** Returns the address of Autoconfig, and of the links to Apple's profiles. */
function addressIn(request: FastifyRequest): string | undefined {
  return parameter(request, 'emailaddress');
}

function parameter(request: FastifyRequest, name: string): string | undefined {
  const query = request.query as Route['Querystring'];
  const [, value] = Object.entries(query).find(([key]) => key.toLowerCase() === name) ?? [];
  return typeof value === 'string' ? value : undefined;
}

function sendXml(reply: FastifyReply, document: string): FastifyReply {
  return reply.type('text/xml; charset=utf-8').send(document);
}

function sendJson(reply: FastifyReply, value: object): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(value));
}

/** First labels of the hosts at which mail programs look for the settings of a domain. */
const HOST_PREFIX = /^(?:autoconfig|autodiscover|ua-auto-config)\./;

type Asked = {
  /** Host of the request in lower case, without a port and a final dot. */
  host: string;
  /** Address in the request, as a mail program wrote it. */
  address: string | undefined;
};

/** The domain and the address that a request is about. */
type Subject = {
  /** Domain whose mail arrives here, in lower case and A-labels. */
  domain: string;
  /** The address in the request when it is at the domain, whether it exists or not. */
  address: string | undefined;
  /** True when the host of the request belongs to the domain alone. */
  isOwnHost: boolean;
};

type DomainApp = Pick<App, 'db' | 'clock' | 'config'>;

/**
 * Returns what a request is about: the domain that its host belongs to, or else that of its address. An address at another domain is left
 * out, so that nobody gets settings or a profile for it. Returns undefined when no mail arrives here for either domain.
 * Nothing here asks whether an address exists, so that nobody learns it.
 */
async function findSubject(app: DomainApp, asked: Asked): Promise<Subject | undefined> {
  const parsed = asked.address?.endsWith('>') ? undefined : parseMailbox(asked.address ?? '');
  const ofHost = findName(asked.host.replace(HOST_PREFIX, ''));
  const isOwnHost = asked.host !== ofHost;
  // A host that is a domain itself may be that of the installation, where the mail programs of all domains ask.
  for (const domain of isOwnHost ? [ofHost, parsed?.domain] : [parsed?.domain, ofHost]) {
    if (domain === undefined || !(await isReceived(app, domain))) continue;
    const address = parsed?.domain === domain ? parsed.address : undefined;
    return { domain, address, isOwnHost: isOwnHost && domain === ofHost };
  }
  return undefined;
}

async function isReceived({ db, clock, config }: DomainApp, domain: string): Promise<boolean> {
  if (domain === sandboxDomain(config)) return true;
  return (await findReceiver(db.read, domain, clock.now())) !== undefined;
}

/** Names of the services in the document, with the only ports that it can mean, all of them with TLS from the first byte. */
const NAMES: Readonly<Partial<Record<ClientService['protocol'], { name: string; port: number }>>> = {
  imap: { name: 'imap', port: 993 },
  pop3: { name: 'pop3', port: 995 },
  smtp: { name: 'submit', port: 465 },
};

/** Returns the document. It has no ports, so that only services at the standard ones are in it. */
function userAgentConfiguration(config: ClientConfig, domain: string) {
  const protocols = clientServices(config).flatMap(({ protocol, security, port }) => {
    const known = NAMES[protocol];
    const isStandard = security === 'tls' && port === known?.port;
    return known && isStandard ? [[known.name, { host: config.hostname }] as const] : [];
  });
  return {
    protocols: Object.fromEntries(protocols),
    authentication: { password: true },
    info: { provider: { name: domain, shortName: domain } },
  };
}

const KINDS: Readonly<Partial<Record<ClientService['protocol'], { element: string; type: string }>>> = {
  imap: { element: 'incomingServer', type: 'imap' },
  pop3: { element: 'incomingServer', type: 'pop3' },
  smtp: { element: 'outgoingServer', type: 'smtp' },
};

/** Returns the document. The program puts the whole address in place of `%EMAILADDRESS%`. */
function formatAutoconfig(config: ClientConfig, domain: string): string {
  const servers = clientServices(config).map((service) => serverOf(config, service));
  const provider =
    textElement('domain', domain) +
    textElement('displayName', domain) +
    textElement('displayShortName', domain) +
    servers.join('');
  return xmlDocument(
    element('clientConfig', element('emailProvider', provider, { id: domain }), { version: '1.1' }),
  );
}

function serverOf({ hostname }: ClientConfig, { protocol, security, port }: ClientService): string {
  const kind = KINDS[protocol];
  if (!kind) return '';
  const settings =
    textElement('hostname', hostname) +
    textElement('port', port) +
    textElement('socketType', security === 'tls' ? 'SSL' : 'STARTTLS') +
    textElement('authentication', 'password-cleartext') +
    textElement('username', '%EMAILADDRESS%');
  return element(kind.element, settings, { type: kind.type });
}
