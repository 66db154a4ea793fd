/**
 * Configuration: defaults, then a YAML file, then `POSTRIDER_*` variables, checked against one schema and frozen.
 * Only the callers of `loadConfig` (main.ts and the CLI) read `process.env`.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parse } from 'yaml';
import { blockList } from './system/blocklist.ts';
import { CRASH_POINTS, type CrashPointName } from './system/crash-point.ts';
import { isResolver } from './system/dns/servers.ts';
import { isHostName } from './system/dns.ts';
import { errorMessage } from './system/errors.ts';

/** A hundred years. Our own limit. */
const MAX_RETENTION_DAYS = 36_500;

const port = (value: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: value, description });
const days = (value: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: MAX_RETENTION_DAYS, default: value, description });
const section = <Properties extends Record<string, TSchema>>(description: string, properties: Properties) =>
  Type.Object(properties, { additionalProperties: false, default: {}, description });

/** Schema of the configuration, with its documentation: config/postrider.example.yaml is generated from it. */
export const configSchema = section('Postrider configuration', {
  hostname: Type.String({
    default: 'localhost',
    description: 'Public name of this machine: EHLO, Message-IDs, bounce.<hostname>. Required in a file.',
  }),
  dataDir: Type.String({
    default: defaultDataDir(),
    description: 'Directory of the database, blobs and keys. A relative path in a file starts at its folder.',
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
  http: section('The HTTP API.', {
    address: Type.String({ default: '127.0.0.1', description: 'Address to listen on.' }),
    port: port(8025, 'Port to listen on; 0 takes any free one.'),
    trustedProxies: Type.Array(Type.String(), {
      default: [],
      description:
        'Exact addresses of reverse proxies, such as 127.0.0.1. Only for connections from them does X-Forwarded-For name the client, whose address is used for the allowed addresses of API keys and for the limits of each address.',
    }),
    metrics: Type.Boolean({
      default: false,
      description:
        'Serve GET /metrics here too, to this machine. A proxy on it that adds no headers would show them to everybody.',
    }),
  }),
  dns: section('Name resolution.', {
    servers: Type.Array(Type.String(), {
      default: [],
      description: 'Resolvers, such as 127.0.0.1 or 192.0.2.1:53. Empty: those of the machine.',
    }),
  }),
  outbound: section('Connections this daemon opens.', {
    smtpPort: port(25, 'Port of receiving mail servers. Anything but 25 is for tests.'),
    allowTargets: Type.Array(Type.String(), {
      default: [],
      description: 'CIDRs that may be connected to although they are private, such as 127.0.0.0/8.',
    }),
  }),
  delivery: section('The delivery engine.', {
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
      description: 'A transactional email that could not be delivered for this long bounces.',
    }),
    broadcastMaxAgeHours: Type.Integer({
      minimum: 1,
      maximum: 168,
      default: 24,
      description: 'A broadcast email that could not be delivered for this long bounces.',
    }),
  }),
  webhooks: section('Webhook deliveries.', {
    allowHttp: Type.Boolean({
      default: false,
      description:
        'Accept http:// endpoints too, and http:// destinations of inbound routes, for applications on this machine (see outbound.allowTargets).',
    }),
    signatureHeader: Type.String({
      // A field name is a token (RFC 9110 section 5.6.2).
      pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$",
      default: 'X-Service-Signature',
      description: 'Name of the signature header.',
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
      webhookDays: days(
        30,
        'Days until webhook deliveries are deleted, including those still pending. At most eventDays.',
      ),
    },
  ),
  keys: section('API keys.', {
    livePrefix: Type.String({
      pattern: '^[a-z0-9_]{1,32}$',
      default: 'svc_prd_',
      description: 'How live keys begin.',
    }),
    testPrefix: Type.String({
      pattern: '^[a-z0-9_]{1,32}$',
      default: 'svc_dev_',
      description: 'How test keys begin.',
    }),
  }),
  domains: section('Sending domains.', {
    addresses: Type.Array(Type.String(), {
      default: [],
      description:
        'Public addresses this machine sends from, for the records of "postrider domain records". Empty: those that DNS has for the hostname.',
    }),
  }),
  regions: Type.Array(Type.String({ minLength: 1 }), {
    minItems: 1,
    default: ['sg'],
    description: 'Region codes a domain may carry; the first is the default.',
  }),
  log: section('Logging.', {
    level: Type.Enum(['debug', 'info', 'warn', 'error', 'silent'], {
      default: 'info',
      description: 'debug, info, warn, error or silent.',
    }),
    mail: Type.Boolean({
      default: true,
      description:
        'Log one line, at info, for each accepted email and for each attempt to deliver it. The lines name senders and recipients.',
    }),
  }),
});

type ConfigFields = Static<typeof configSchema>;

/** Settings for fault tests. They come from the environment only, never from a file. */
type FaultSettings = { crashAt: CrashPointName | undefined; synchronous: 'FULL' | 'NORMAL' };

export type Config = Readonly<
  ConfigFields & {
    faults: FaultSettings;
    /** True when the daemon is started without a configuration file. */
    development: boolean;
    /** True when neither the file nor the environment names a data directory. */
    dataDirIsDefault: boolean;
  }
>;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export type ConfigSource = { file?: string | undefined; env: Readonly<Record<string, string | undefined>> };

const ENV_PREFIX = 'POSTRIDER_';
const ENV_ONLY = ['POSTRIDER_CONFIG', 'POSTRIDER_CRASH_AT', 'POSTRIDER_UNSAFE_SYNCHRONOUS'];

/**
 * Loads the configuration.
 * @throws ConfigError naming the key or variable that is wrong
 */
export function loadConfig(source: ConfigSource): Config {
  const file = source.file ?? source.env['POSTRIDER_CONFIG'];
  const values = file === undefined ? {} : readFile(file);
  const origins = new Map(leaves(configSchema).map(({ path }) => [path.join('.'), file ?? 'defaults']));
  applyEnvironment(values, source.env, origins);
  if (file !== undefined && values['hostname'] === undefined) {
    throw new ConfigError(`${file}: "hostname" is required`);
  }
  const dataDirIsDefault = values['dataDir'] === undefined;
  const complete = Value.Default(configSchema, values);
  check(complete, origins, file);
  const faults = faultSettings(source.env);
  // A path in the file is relative to the file's folder, because the daemon and its commands may run in different
  // folders.
  const folder = file !== undefined && origins.get('dataDir') === file ? dirname(file) : '';
  const dataDir = resolve(folder, complete.dataDir);
  return deepFreeze({ ...complete, dataDir, faults, development: file === undefined, dataDirIsDefault });
}

function readFile(file: string): Record<string, unknown> {
  try {
    const value: unknown = parse(readFileSync(file, 'utf8')) ?? {};
    if (isRecord(value)) return value;
  } catch (error) {
    throw new ConfigError(`${file}: ${errorMessage(error)}`, { cause: error });
  }
  throw new ConfigError(`${file}: must hold keys and values`);
}

type Leaf = { path: string[]; schema: TSchema };

/** Returns every setting, with its path in the configuration. */
export function leaves(schema: TObject, path: string[] = []): Leaf[] {
  return Object.entries(schema.properties).flatMap(([key, value]) =>
    Type.IsObject(value) ? leaves(value, [...path, key]) : [{ path: [...path, key], schema: value }],
  );
}

/** Returns the variable of a setting: `http.port` is `POSTRIDER_HTTP_PORT`, `dataDir` is `POSTRIDER_DATA_DIR`. */
export function environmentName(path: readonly string[]): string {
  return (
    ENV_PREFIX + path.map((key) => key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()).join('_')
  );
}

function applyEnvironment(
  values: Record<string, unknown>,
  env: ConfigSource['env'],
  origins: Map<string, string>,
): void {
  const known = new Map(leaves(configSchema).map((leaf) => [environmentName(leaf.path), leaf]));
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(ENV_PREFIX) || ENV_ONLY.includes(name) || text === undefined) continue;
    const leaf = known.get(name);
    if (!leaf) throw new ConfigError(`${name}: there is no such setting`);
    origins.set(leaf.path.join('.'), name);
    setPath(values, leaf.path, parseText(leaf.schema, text));
  }
}

/** Converts the text of a variable. A text that does not fit stays text, so that the schema check reports it. */
function parseText(schema: TSchema, text: string): unknown {
  if (Type.IsArray(schema)) return text === '' ? [] : text.split(',').map((item) => item.trim());
  if (Type.IsInteger(schema)) return /^-?\d+$/.test(text) ? Number(text) : text;
  if (Type.IsBoolean(schema)) return text === 'true' ? true : text === 'false' ? false : text;
  return text;
}

function setPath(values: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path;
  if (key === undefined) return;
  if (rest.length === 0) {
    values[key] = value;
    return;
  }
  const child = values[key];
  const next = isRecord(child) ? child : {};
  values[key] = next;
  setPath(next, rest, value);
}

/**
 * Header fields that webhook posts have already, and those that HTTP/1.1 uses for framing and routing (RFC 9110
 * section 7).
 */
const POST_HEADERS = [
  ...[
    'accept-encoding',
    'connection',
    'content-encoding',
    'content-length',
    'content-type',
    'expect',
    'host',
  ],
  ...['keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'user-agent'],
  ...['webhook-id', 'webhook-signature', 'webhook-timestamp', 'x-service-delivery', 'x-service-event'],
];

function check(
  value: unknown,
  origins: ReadonlyMap<string, string>,
  file: string | undefined,
): asserts value is ConfigFields {
  const errors = [...Value.Errors(configSchema, value)];
  // An unknown key causes a second error about the key itself, whose message does not help the operator.
  const error = errors.find(({ keyword }) => keyword === 'additionalProperties') ?? errors[0];
  if (error) {
    const key = error.instancePath.slice(1).replaceAll('/', '.');
    const origin = origins.get(key) ?? file ?? 'configuration';
    if (error.keyword === 'additionalProperties') {
      const unknown = error.params.additionalProperties
        .map((name) => (key ? `${key}.${name}` : name))
        .join('", "');
      throw new ConfigError(`${origin}: "${unknown}" is not a known key`);
    }
    throw new ConfigError(`${origin}: "${key}" ${error.message}`);
  }
  const config = value as ConfigFields;
  if (!isHostName(config.hostname)) {
    throw new ConfigError(`${origins.get('hostname')}: "hostname" is not a host name`);
  }
  if (POST_HEADERS.includes(config.webhooks.signatureHeader.toLowerCase())) {
    throw new ConfigError(
      `${origins.get('webhooks.signatureHeader')}: "webhooks.signatureHeader": a post has this header already`,
    );
  }
  const notResolver = config.dns.servers.find((server) => !isResolver(server));
  if (notResolver !== undefined) {
    throw new ConfigError(
      `${origins.get('dns.servers')}: "dns.servers": "${notResolver}" is not the address of a resolver such as 192.0.2.1 or [2001:db8::1]:53`,
    );
  }
  requireOrderedRetention(config.retention, origins);
  requireAddresses('domains.addresses', config.domains.addresses, origins);
  requireAddresses('http.trustedProxies', config.http.trustedProxies, origins);
  try {
    blockList(config.outbound.allowTargets);
  } catch (error) {
    throw new ConfigError(
      `${origins.get('outbound.allowTargets')}: "outbound.allowTargets": ${errorMessage(error)}`,
    );
  }
}

/** Each pair names a limit and the longer one that it must not exceed: what depends on a row is deleted before the row. */
const RETENTION_ORDER = [
  ['contentDays', 'emailDays'],
  ['eventDays', 'emailDays'],
  ['webhookDays', 'eventDays'],
] as const;

function requireOrderedRetention(
  retention: ConfigFields['retention'],
  origins: ReadonlyMap<string, string>,
): void {
  for (const [shorter, longer] of RETENTION_ORDER) {
    if (retention[shorter] <= retention[longer]) continue;
    throw new ConfigError(
      `${origins.get(`retention.${shorter}`)}: "retention.${shorter}" must be at most "retention.${longer}", which is ${retention[longer]}`,
    );
  }
}

function requireAddresses(
  key: string,
  addresses: readonly string[],
  origins: ReadonlyMap<string, string>,
): void {
  const wrong = addresses.find((address) => isIP(address) === 0 || address.includes('%'));
  if (wrong === undefined) return;
  throw new ConfigError(`${origins.get(key)}: "${key}": ${wrong} is not an IP address`);
}

function faultSettings(env: ConfigSource['env']): FaultSettings {
  const crash = env['POSTRIDER_CRASH_AT'];
  const crashAt = CRASH_POINTS.find((name) => name === crash);
  if (crash && !crashAt) throw new ConfigError(`POSTRIDER_CRASH_AT: "${crash}" is not a crash point`);
  const unsafe = env['POSTRIDER_UNSAFE_SYNCHRONOUS'];
  if (unsafe !== undefined && unsafe !== 'NORMAL')
    throw new ConfigError('POSTRIDER_UNSAFE_SYNCHRONOUS: only NORMAL');
  return { crashAt, synchronous: unsafe ?? 'FULL' };
}

/** Returns `data/` in the checkout or the installed folder, independent of the working directory. */
function defaultDataDir(): string {
  return fileURLToPath(new URL('../data', import.meta.url));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value))
    if (typeof child === 'object' && child !== null) deepFreeze(child);
  return Object.freeze(value);
}
