/** The section of the configuration for the delivery engine. */
import { type Static, Type } from 'typebox';
import { isHostName } from '../system/dns.ts';
import { section } from './fields.ts';
import { providerNames } from './provider-names.ts';

/** Maximum number of limits in the configuration. They are compared with each site whose mail is routed. */
const MAX_DELIVERY_LIMITS = 100;
/** Maximum number of delivery threads. Each needs memory and a core. */
const MAX_DELIVERY_THREADS = 32;
/** Maximum value of a limit, far beyond what one machine sends. */
const MAX_LIMIT = 1_000_000;

const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT }));

/** The limits of a site, as the configuration and config/providers.yaml set them. */
export const limitFields = {
  /** Concurrent connections to one site. */
  connections: limit,
  /** Concurrent connections to all sites of the provider together. */
  providerConnections: limit,
  /** New connections to one site in a minute. */
  connectionsPerMinute: limit,
  /** Recipients at one site that mail is sent to in a minute. */
  recipientsPerMinute: limit,
  /** Messages after which a connection ends. */
  messagesPerConnection: limit,
};

const deliveryLimit = Type.Object(
  {
    provider: Type.Optional(Type.String({ minLength: 1 })),
    host: Type.Optional(Type.String({ minLength: 1 })),
    ...limitFields,
  },
  { additionalProperties: false },
);
type DeliveryLimit = Static<typeof deliveryLimit>;

/** Returns what is wrong with a limit that has the right shape, as a sentence without its subject; undefined when nothing is. */
export function findLimitFault({ provider, host, ...limits }: DeliveryLimit): string | undefined {
  if ((provider === undefined) === (host === undefined)) return 'needs either "provider" or "host"';
  if (provider !== undefined && !providerNames().includes(provider))
    return `is for no provider of config/providers.yaml, which has ${providerNames().join(', ')}`;
  if (host !== undefined && !isHostName(host)) return 'is not for a host name';
  if (Object.keys(limits).length === 0) return 'sets no limit';
  return undefined;
}

export const deliverySection = section('The delivery engine.', {
  repliesFile: Type.String({
    default: '',
    description:
      'A table of your own that says what the replies of other servers mean, such as a changed copy of config/replies.yaml. It is read again when it changes. Empty: the table that comes with the program.',
  }),
  backOffFile: Type.String({
    default: '',
    description:
      'Rules of your own that slow mail down after certain replies, such as a changed copy of config/back-off.yaml. It is read again when it changes. Empty: the rules that come with the program.',
  }),
  limits: Type.Array(deliveryLimit, {
    maxItems: MAX_DELIVERY_LIMITS,
    default: [],
    description:
      'Limits of your own, which come before those of config/providers.yaml, such as [{ provider: google, connections: 2 }, { host: mx.example.net, recipientsPerMinute: 60 }]. ' +
      'Each is for a "provider" of that file, or for the sites with a "host", which also stands for the hosts below it. Fields: connections (to one site), providerConnections (to all of its sites), connectionsPerMinute, recipientsPerMinute, messagesPerConnection.',
  }),
  secondSignature: Type.Boolean({
    default: true,
    description:
      'Signs mail to Gmail and Yahoo (providers with "secondSignature" in config/providers.yaml) with the DKIM key of "hostname" too, so that their ' +
      'complaint loop and their statistics for senders can be had for this server as a whole, whatever domains its tenants have.',
  }),
  threads: Type.Integer({
    minimum: 0,
    maximum: MAX_DELIVERY_THREADS,
    default: 0,
    description:
      'Number of threads that deliver. Each site of receiving servers, and all sites of one provider, belong to one of them, and each has an ' +
      'equal part of "connections". 0: one, or two on a machine with 8 cores or more.',
  }),
  connections: Type.Integer({
    minimum: 1,
    maximum: 2_000,
    default: 500,
    description:
      'Maximum number of concurrent connections to receiving mail servers. Tenants share them: a single tenant uses up to ' +
      'seven of eight, and a quarter is reserved for servers that have accepted mail within the last hour.',
  }),
  connectionsPerSite: Type.Integer({
    minimum: 1,
    maximum: 200,
    default: 20,
    description:
      'Maximum number of concurrent connections to the mail servers of one site. Each site starts with two, and gets more while it accepts mail.',
  }),
  transactionalMaxAgeHours: Type.Integer({
    minimum: 1,
    maximum: 168,
    default: 48,
    description: 'Time in hours after which a transactional email that could not be delivered bounces.',
  }),
  broadcastMaxAgeHours: Type.Integer({
    minimum: 1,
    maximum: 168,
    default: 24,
    description: 'Time in hours after which a broadcast email that could not be delivered bounces.',
  }),
});
