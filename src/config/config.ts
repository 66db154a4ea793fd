/**
 * Configuration: defaults, then a YAML file, then `POSTRIDER_*` variables, checked against one schema and frozen.
 * Only the callers of `loadConfig` (main.ts and the CLI) read `process.env`.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, resolve } from 'node:path';
import { type TObject, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parse } from 'yaml';
import { CRASH_POINTS } from '../crash-points.ts';
import { isLoopback } from '../system/address-block.ts';
import { blockList } from '../system/blocklist.ts';
import { crashPointName } from '../system/crash-point.ts';
import { isResolver } from '../system/dns/servers.ts';
import { isHostName } from '../system/dns.ts';
import { errorCode, errorMessage } from '../system/errors.ts';
import { findRouteFault, routeDomain } from './outbound.ts';
import { type ConfigFields, configSchema } from './schema.ts';

/** Settings for fault tests. They come from the environment only, never from a file. */
type FaultSettings = { crashAt: string | undefined; synchronous: 'FULL' | 'NORMAL' };

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

type ConfigSource = { file?: string | undefined; env: Readonly<Record<string, string | undefined>> };

const ENV_PREFIX = 'POSTRIDER_';
const ENV_ONLY = ['POSTRIDER_CONFIG', 'POSTRIDER_CRASH_AT', 'POSTRIDER_UNSAFE_SYNCHRONOUS'];

/**
 * Loads the configuration.
 * @throws ConfigError naming the key or variable that is wrong
 */
export function loadConfig(source: ConfigSource): Config {
  const file = source.file ?? source.env['POSTRIDER_CONFIG'];
  const values = file === undefined ? developmentDefaults() : readFile(file);
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
  const folderOf = (key: string) => (file !== undefined && origins.get(key) === file ? dirname(file) : '');
  const dataDir = resolve(folderOf('dataDir'), complete.dataDir);
  const certificates = complete.tls.certificates.map(({ certificate, key }) => ({
    certificate: resolve(folderOf('tls.certificates'), certificate),
    key: resolve(folderOf('tls.certificates'), key),
  }));
  const { repliesFile } = complete.delivery;
  const delivery = {
    ...complete.delivery,
    repliesFile: repliesFile === '' ? '' : resolve(folderOf('delivery.repliesFile'), repliesFile),
  };
  const { folder } = complete.backup;
  const backup = {
    ...complete.backup,
    folder: folder === '' ? '' : resolve(folderOf('backup.folder'), folder),
  };
  const routeFolder = folderOf('outbound.routes');
  const routes = complete.outbound.routes.map(({ passwordFile, caFile, ...route }) => ({
    ...route,
    ...(passwordFile !== undefined && { passwordFile: resolve(routeFolder, passwordFile) }),
    ...(caFile !== undefined && { caFile: resolve(routeFolder, caFile) }),
  }));
  const outbound = { ...complete.outbound, routes };
  const { update } = complete.dns;
  const updateKey = update.key === '' ? '' : resolve(folderOf('dns.update.key'), update.key);
  const dns = { ...complete.dns, update: { ...update, key: updateKey } };
  const { externalAccount } = complete.acme;
  const { hmacKeyFile } = externalAccount;
  const keyFolder = folderOf('acme.externalAccount.hmacKeyFile');
  const acme = {
    ...complete.acme,
    externalAccount: {
      ...externalAccount,
      hmacKeyFile: hmacKeyFile === '' ? '' : resolve(keyFolder, hmacKeyFile),
    },
  };
  const paths = {
    acme,
    dns,
    backup,
    dataDir,
    delivery,
    outbound,
    tls: { ...complete.tls, certificates },
  };
  return deepFreeze({ ...complete, ...paths, faults, development: file === undefined, dataDirIsDefault });
}

/** Returns the defaults without a file, where they differ: a developer may not use the privileged ports of mail. */
function developmentDefaults(): Record<string, unknown> {
  return {
    https: { address: '127.0.0.1', port: 8443, redirectPort: 8080 },
    smtp: { address: '127.0.0.1', port: 2525 },
    imap: { address: '127.0.0.1', port: 2993, starttlsPort: 2143 },
    managesieve: { address: '127.0.0.1', port: 2490 },
    submission: { address: '127.0.0.1', port: 2587, tlsPort: 2465 },
    pop3: { address: '127.0.0.1', port: 2995, starttlsPort: 2110 },
  };
}

function readFile(file: string): Record<string, unknown> {
  try {
    const value: unknown = parse(readFileSync(file, 'utf8')) ?? {};
    if (isRecord(value)) return value;
  } catch (error) {
    const isMissing = errorCode(error) === 'ENOENT';
    throw new ConfigError(
      isMissing ? `the configuration file ${file} does not exist` : `${file}: ${errorMessage(error)}`,
      { cause: error },
    );
  }
  throw new ConfigError(`${file}: must contain settings, such as "hostname: mail.example.com"`);
}

type Leaf = { path: string[]; schema: TSchema };

/** Returns every setting, with its path in the configuration. */
export function leaves(schema: TObject, path: string[] = []): Leaf[] {
  return Object.entries(schema.properties).flatMap(([key, value]) =>
    Type.IsObject(value) ? leaves(value, [...path, key]) : [{ path: [...path, key], schema: value }],
  );
}

/** Returns true for a list of objects. It has no variable that sets it, because a variable holds only a list of texts. */
export function isListOfObjects(schema: TSchema): boolean {
  return Type.IsArray(schema) && Type.IsObject(schema.items);
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
    if (isListOfObjects(leaf.schema))
      throw new ConfigError(`${name}: "${leaf.path.join('.')}" can be set in a configuration file only`);
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
    const key = error.instancePath
      .slice(1)
      .replaceAll(/\/(\d+)/g, '[$1]')
      .replaceAll('/', '.');
    const origin = origins.get(key) ?? file ?? 'configuration';
    if (error.keyword === 'additionalProperties') {
      const unknown = error.params.additionalProperties
        .map((name) => (key ? `${key}.${name}` : name))
        .join('", "');
      throw new ConfigError(`${origin}: "${unknown}" is not a setting`);
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
  if (config.https.port !== 0 && config.https.port === config.https.redirectPort) {
    throw new ConfigError(
      `${origins.get('https.redirectPort')}: "https.redirectPort" must be another port than "https.port"`,
    );
  }
  const notResolver = config.dns.servers.find((server) => !isResolver(server));
  if (notResolver !== undefined) {
    throw new ConfigError(
      `${origins.get('dns.servers')}: "dns.servers": "${notResolver}" is not the address of a resolver such as 192.0.2.1 or [2001:db8::1]:53`,
    );
  }
  if (config.lmtp.address !== '' && !isLoopback(config.lmtp.address)) {
    throw new ConfigError(
      `${origins.get('lmtp.address')}: "lmtp.address" must be an address of this machine alone, such as 127.0.0.1`,
    );
  }
  if (config.acme.directory !== '' && !config.acme.acceptTerms) {
    throw new ConfigError(
      `${origins.get('acme.directory')}: "acme.directory" needs "acme.acceptTerms": read the terms of the authority, and set it to true if you agree`,
    );
  }
  requireOrderedRetention(config.retention, origins);
  requireAddresses('domains.addresses', config.domains.addresses, origins);
  requireNameServer(config, origins);
  requireUpdates(config, origins);
  requireAddresses('http.trustedProxies', config.http.trustedProxies, origins);
  requireAddresses('smtp.trustedProxies', config.smtp.trustedProxies, origins);
  requireBlocks('inbound.trustedRelays', config.inbound.trustedRelays, origins);
  for (const { zone, answers } of config.inbound.dnsbl) {
    if (!isHostName(zone))
      throw new ConfigError(`${origins.get('inbound.dnsbl')}: "inbound.dnsbl": "${zone}" is not a DNS name`);
    requireBlocks('inbound.dnsbl', answers, origins);
  }
  requireBlocks('outbound.allowTargets', config.outbound.allowTargets, origins);
  requireRoutes(config.outbound.routes, origins);
}

/** Checks each route, and that no two have the same name or are for the same mail. */
function requireRoutes(
  routes: ConfigFields['outbound']['routes'],
  origins: ReadonlyMap<string, string>,
): void {
  const seen = new Map<string, string>();
  for (const { name, passwordFile, caFile, ...route } of routes) {
    const given = { hasPassword: passwordFile !== undefined, hasAuthorities: caFile !== undefined };
    const mail = `mail of ${route.tenant ?? 'all'} to ${routeDomain(route.domain ?? '')}`;
    const other = seen.get(name) ?? seen.get(mail);
    const fault =
      other === undefined
        ? findRouteFault({ ...route, ...given })
        : `the route "${other}" has its name or is for the same mail`;
    if (fault !== undefined)
      throw new ConfigError(`${origins.get('outbound.routes')}: "outbound.routes": "${name}": ${fault}`);
    seen.set(name, name).set(mail, name);
  }
}

function requireBlocks(key: string, blocks: readonly string[], origins: ReadonlyMap<string, string>): void {
  try {
    blockList(blocks);
  } catch (error) {
    throw new ConfigError(`${origins.get(key)}: "${key}": ${errorMessage(error)}`);
  }
}

/** Checks what dynamic updates need: a server, a key, zones and the addresses to publish, or nothing. */
function requireUpdates(
  { hostname, dns, domains }: ConfigFields,
  origins: ReadonlyMap<string, string>,
): void {
  const { server, key, zones } = dns.update;
  const wrong = zones.find((zone) => !isHostName(zone));
  if (wrong !== undefined)
    throw new ConfigError(`${origins.get('dns.update.zones')}: "dns.update.zones": "${wrong}" is not a zone`);
  if (server === '') return;
  const origin = origins.get('dns.update.server');
  if (!isResolver(server))
    throw new ConfigError(`${origin}: "dns.update.server": "${server}" is not an address such as 192.0.2.53`);
  const isInZone = zones.some((zone) => `.${hostname}`.toLowerCase().endsWith(`.${zone}`.toLowerCase()));
  if (zones.length > 0 && !isInZone)
    throw new ConfigError(`${origin}: "dns.update.zones" must have the zone of the hostname, ${hostname}`);
  if (key === '' || zones.length === 0)
    throw new ConfigError(`${origin}: "dns.update.server" needs "dns.update.key" and "dns.update.zones"`);
  // Addresses that are looked up are missing while DNS fails, and their records would then be removed.
  if (domains.addresses.length === 0)
    throw new ConfigError(
      `${origin}: "dns.update.server" needs "domains.addresses", the public addresses of this machine`,
    );
}

/** Checks what the name server needs to answer for its own zone. */
function requireNameServer(
  { nameserver, domains }: ConfigFields,
  origins: ReadonlyMap<string, string>,
): void {
  requireAddresses('nameserver.addresses', nameserver.addresses, origins);
  const wrong = nameserver.names.find((name) => !isHostName(name));
  if (wrong !== undefined)
    throw new ConfigError(
      `${origins.get('nameserver.names')}: "nameserver.names": "${wrong}" is not a host name`,
    );
  if (nameserver.enabled && domains.addresses.length === 0)
    throw new ConfigError(
      `${origins.get('nameserver.enabled')}: "nameserver.enabled" needs "domains.addresses", the public addresses of this machine`,
    );
}

/**
 * Each pair names a limit and the longer one that it must not exceed: what depends on a row is deleted before the row.
 */
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
  const crashAt = env['POSTRIDER_CRASH_AT'] || undefined;
  if (crashAt !== undefined && !CRASH_POINTS.some((name) => name === crashPointName(crashAt)))
    throw new ConfigError(`POSTRIDER_CRASH_AT: "${crashAt}" is not a crash point`);
  const unsafe = env['POSTRIDER_UNSAFE_SYNCHRONOUS'];
  if (unsafe !== undefined && unsafe !== 'NORMAL')
    throw new ConfigError('POSTRIDER_UNSAFE_SYNCHRONOUS: only NORMAL');
  return { crashAt, synchronous: unsafe ?? 'FULL' };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value))
    if (typeof child === 'object' && child !== null) deepFreeze(child);
  return Object.freeze(value);
}
