/**
 * Configuration: defaults, then a YAML file, then `POSTRIDER_*` variables, checked against one schema and frozen.
 * Only the callers of `loadConfig` (main.ts and the CLI) read `process.env`.
 */
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Value } from 'typebox/value';
import { parse } from 'yaml';
import { errorCode, errorMessage } from '../system/errors.ts';
import { ConfigError } from './config-error.ts';
import {
  applyEnvironment,
  type Environment,
  environmentName,
  type FaultSettings,
  isRecord,
  leaves,
  readFaultSettings,
} from './environment.ts';
import { withAbsolutePaths } from './paths.ts';
import { findFaults } from './rules.ts';
import { type ConfigFields, configSchema } from './schema.ts';

export type Config = Readonly<
  ConfigFields & {
    faults: FaultSettings;
    /** True when the daemon is started without a configuration file. */
    development: boolean;
    /** True when neither the file nor the environment names a data directory. */
    dataDirIsDefault: boolean;
    /** Path of the configuration file; null without one. */
    file: string | null;
    /** Origins of the settings that do not have their defaults, by their keys, such as `http.port`. */
    sources: Readonly<Record<string, 'file' | 'environment'>>;
  }
>;

type ConfigSource = { file?: string | undefined; env: Environment };

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
  const sources = sourcesOf(file === undefined ? {} : values, origins);
  const dataDirIsDefault = values['dataDir'] === undefined;
  const complete = Value.Default(configSchema, values);
  check(complete, origins, file);
  const faults = readFaultSettings(source.env);
  const folderOf = (setting: string) =>
    file !== undefined && origins.get(setting) === file ? dirname(file) : '';
  const config = withAbsolutePaths(complete, folderOf);
  const development = file === undefined;
  return deepFreeze({ ...config, faults, development, dataDirIsDefault, file: file ?? null, sources });
}

/** Returns where settings come from. `written` are the values of the file; a variable wins over them. */
function sourcesOf(
  written: Record<string, unknown>,
  origins: ReadonlyMap<string, string>,
): Config['sources'] {
  const keys = leaves(configSchema).map(({ path }) => ({ path, key: path.join('.') }));
  return Object.fromEntries(
    keys.flatMap(({ path, key }): [string, 'file' | 'environment'][] => {
      if (origins.get(key) === environmentName(path)) return [[key, 'environment']];
      return valueAt(written, path) === undefined ? [] : [[key, 'file']];
    }),
  );
}

/** Returns the value at a path of a configuration; undefined when it has none. */
export function valueAt(values: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return values;
  return isRecord(values) ? valueAt(values[key], rest) : undefined;
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

/** @throws ConfigError for the first setting that is wrong */
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
  for (const { setting, says } of findFaults(value as ConfigFields))
    throw new ConfigError(`${origins.get(setting)}: ${says}`);
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value))
    if (typeof child === 'object' && child !== null) deepFreeze(child);
  return Object.freeze(value);
}
