/** Every setting with its default, its bounds and its description. `config.ts` reads the values. */
import { type Static, Type } from 'typebox';
import { defaultDataDir } from '../data-files.ts';
import { acmeSection } from './acme.ts';
import { backupSection } from './backup.ts';
import { imapSection, managesieveSection, pop3Section, submissionSection } from './clients.ts';
import { deliverySection } from './delivery.ts';
import { connections, days, listener, port, section } from './fields.ts';
import { httpsSection } from './https.ts';
import { inboundSection } from './inbound.ts';
import { dnsSection, nameserverSection } from './nameserver.ts';
import { openIdSection } from './openid.ts';
import { outboundSection } from './outbound.ts';
import { standbySection } from './standby.ts';

/** Maximum time for which it is known with what address and program readers open mail. */
const MAX_ENGAGEMENT_DAYS = 30;

/** Maximum number of certificates. The files of each are looked at every few seconds. */
const MAX_CERTIFICATES = 100;
/** Maximum size of a mailbox: 1 PiB. */
const MAX_QUOTA_MEGABYTES = 1_073_741_824;
/** Maximum number of failed logins in ten minutes, for tests that measure logins. */
const MAX_LOGIN_FAILURES = 1_000_000;

/** Schema of the configuration, with its documentation: config/postrider.example.yaml is generated from it. */
export const configSchema = section('Postrider configuration', {
  hostname: Type.String({
    default: 'localhost',
    description:
      'Public host name of this machine. It is used in EHLO, in Message-IDs and in bounce.<hostname>. Required in a file.',
  }),
  operator: section('The person who looks after this installation.', {
    email: Type.String({
      pattern: "^$|^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]{1,253}$",
      default: '',
      description:
        'Address that is told when a check fails. With it, the checks of "postrider doctor" run every hour in a daemon with a configuration file. They look up names and connect to other machines. Empty: nothing is looked up or connected to unless it is asked for.',
    }),
  }),
  dataDir: Type.String({
    default: defaultDataDir(),
    description:
      'Directory of the database, message files and keys. In a file, a relative path starts at the folder of the file.',
  }),
  storage: section('The disk of the data directory.', {
    reserveMegabytes: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      default: 512,
      description:
        'Free space, in megabytes, below which nothing new is accepted (503) while delivery goes on. At most a tenth of the disk is kept free, however large this value is; 0 keeps nothing free.',
    }),
  }),
  http: listener(
    'The HTTP API.',
    { address: '127.0.0.1', port: 8025 },
    {
      trustedProxies: Type.Array(Type.String(), {
        default: [],
        description:
          'Exact addresses of reverse proxies, such as 127.0.0.1. Only for connections from them does X-Forwarded-For name the client, whose address is used for the allowed addresses of API keys and for the limits of each address.',
      }),
      publicUrl: Type.String({
        // An origin (RFC 6454 section 6.2), without a path.
        pattern: '^$|^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?$',
        default: '',
        description:
          'Public address of the HTTP API, such as https://api.mx.example.com. Posts to inbound routes have links to large files there. Empty: https:// and the hostname, or the address that the API listens on while https.enabled is false.',
      }),
      metrics: Type.Boolean({
        default: false,
        description:
          'Serves GET /metrics on this port too, for clients on this machine only. A proxy that adds no headers would show the metrics to everybody.',
      }),
    },
  ),
  https: httpsSection,
  compatibility: section(
    'APIs of other products, for programs that use their clients. They take the same API keys.',
    {
      resend: Type.Boolean({
        default: true,
        description: 'Serves the API of Resend at /compat/resend, on every address of the HTTP API.',
      }),
    },
  ),
  tls: section('TLS of the listeners for mail and of HTTPS.', {
    certificates: Type.Array(
      Type.Object(
        { certificate: Type.String({ minLength: 1 }), key: Type.String({ minLength: 1 }) },
        { additionalProperties: false },
      ),
      {
        maxItems: MAX_CERTIFICATES,
        default: [],
        description:
          'Certificates with their chains, and their keys, in PEM: [{ certificate: fullchain.pem, key: privkey.pem }]. ' +
          'A relative path starts at the folder of this file. The name that a client asks for chooses one; the first serves all other clients. ' +
          'Changed files are read again. Without any, self-signed certificates for the hostname are made, which are kept in the data directory.',
      },
    ),
  }),
  acme: acmeSection,
  openid: openIdSection,
  mcp: section('Tools for agents, by the Model Context Protocol (MCP).', {
    enabled: Type.Boolean({
      default: true,
      description: 'Serves POST /mcp beside the API, for programs with an API key.',
    }),
  }),
  smtp: listener(
    'Mail that arrives.',
    { address: '::', port: 25 },
    {
      connections: connections(
        20_000,
        'Maximum number of open connections. Each without a message takes 15 KB.',
      ),
      trustedProxies: Type.Array(Type.String(), {
        default: [],
        description:
          'Exact addresses of proxies that name their client by the PROXY protocol, version 1 or 2. Every connection from them must begin with that.',
      }),
    },
  ),
  imap: imapSection,
  pop3: pop3Section,
  managesieve: managesieveSection,
  submission: submissionSection,
  lmtp: section(
    'LMTP (RFC 2033), by which another mail server of this machine, such as Postfix, delivers to mailboxes.',
    {
      address: Type.String({
        default: '',
        description:
          'Address to listen on, of this machine alone: 127.0.0.1 or ::1. Its clients are believed, and their mail is not judged. Empty: LMTP is off.',
      }),
      port: port(24, 'Port to listen on; 0 takes any free one.'),
    },
  ),
  inbound: inboundSection,
  mailboxes: section('Mailboxes of people.', {
    quotaMegabytes: Type.Integer({
      minimum: 1,
      maximum: MAX_QUOTA_MEGABYTES,
      default: 10_240,
      description: 'Size of a new mailbox, in megabytes, unless its creator says another.',
    }),
    failuresPerAccount: Type.Integer({
      minimum: 1,
      maximum: MAX_LOGIN_FAILURES,
      default: 50,
      description:
        'Failed logins of one account within ten minutes, beyond which addresses that have not logged in to it before are refused.',
    }),
    failuresPerAddress: Type.Integer({
      minimum: 1,
      maximum: MAX_LOGIN_FAILURES,
      default: 20,
      description: 'Failed logins from one client address within ten minutes, beyond which it is refused.',
    }),
  }),
  links: section('Links in mail, such as those by which readers unsubscribe.', {
    url: Type.String({
      // An origin (RFC 6454 section 6.2), without a path.
      pattern: '^$|^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?$',
      default: '',
      description:
        'Public address of the pages that links lead to, such as https://track.mx.example.com. A reverse proxy forwards it to the HTTP API with its Host header. Empty: https://track.<hostname>.',
    }),
  }),
  dns: dnsSection,
  nameserver: nameserverSection,
  outbound: outboundSection,
  delivery: deliverySection,
  webhooks: section('Webhook deliveries.', {
    allowHttp: Type.Boolean({
      default: false,
      description:
        'Accepts webhook endpoints and destinations of inbound routes with http:// too, for applications on this machine (see outbound.allowTargets).',
    }),
    signatureHeader: Type.String({
      // A field name is a token (RFC 9110 section 5.6.2).
      pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$",
      default: 'X-Service-Signature',
      description: 'Name of the signature header.',
    }),
    maxOpenPerEndpoint: Type.Integer({
      minimum: 1,
      maximum: 256,
      default: 64,
      description:
        'Maximum number of concurrent posts to one endpoint. Each starts with four, and gets more while it answers quickly and well.',
    }),
    maxOpenPerHost: Type.Integer({
      minimum: 1,
      maximum: 256,
      default: 128,
      description:
        'Maximum number of concurrent posts to all endpoints of one host, of all tenants. Inbound routes to the host have as many of their own.',
    }),
  }),
  retention: section(
    'How long data about mail that has ended is kept. Mail that is still queued, scheduled or held stays.',
    {
      contentDays: days(
        30,
        'Days after the last change of an email until its HTML, text and attachments are deleted. At most emailDays.',
      ),
      eventDays: days(90, 'Days until events and delivery attempts are deleted. At most emailDays.'),
      emailDays: days(400, 'Days after the last change of an email until the email itself is deleted.'),
      webhookDays: days(30, 'Days until webhook deliveries that have ended are deleted. At most eventDays.'),
      requestDays: days(
        7,
        'Days until requests are deleted from the request log of the API, which has paths and IP addresses.',
      ),
      inboundDays: days(
        7,
        'Days after a received message was processed until its bytes are deleted. Until then it can be posted again.',
      ),
      engagementDays: Type.Integer({
        minimum: 1,
        maximum: MAX_ENGAGEMENT_DAYS,
        default: MAX_ENGAGEMENT_DAYS,
        description:
          'Days until the IP address and the user agent of those who opened an email or followed a link are deleted, also in events. Whether an email was opened or clicked stays known.',
      }),
    },
  ),
  backup: backupSection,
  standby: standbySection,
  keys: section('API keys.', {
    livePrefix: Type.String({
      pattern: '^[a-z0-9_]{1,32}$',
      default: 'svc_prd_',
      description: 'Prefix of live keys.',
    }),
    testPrefix: Type.String({
      pattern: '^[a-z0-9_]{1,32}$',
      default: 'svc_dev_',
      description: 'Prefix of test keys.',
    }),
  }),
  domains: section('Sending domains.', {
    addresses: Type.Array(Type.String(), {
      default: [],
      description:
        'Public addresses this machine sends from, for the records of "postrider domain records". Without any, those that DNS has for the hostname are used.',
    }),
  }),
  regions: Type.Array(Type.String({ minLength: 1 }), {
    minItems: 1,
    default: ['sg'],
    description: 'Region codes that a domain may have. The first is the default.',
  }),
  log: section('Logging.', {
    level: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], {
      default: 'info',
      description: 'Lowest level that is logged: debug, info, warn, error or silent.',
    }),
    format: Type.Enum(['json', 'text'], {
      default: 'json',
      description: 'Form of the lines: json for programs, or text for people.',
    }),
    mail: Type.Boolean({
      default: true,
      description:
        'Logs one line, with level info, for each accepted email and each delivery attempt. The lines name senders and recipients.',
    }),
  }),
});

export type ConfigFields = Static<typeof configSchema>;
