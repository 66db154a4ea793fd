/** Shows the settings in effect to the operator: each with its meaning, its default, and where its value comes from. */
import type { Config } from '../config/config.ts';
import { valueAt } from '../config/config.ts';
import { environmentName, isListOfObjects, leaves } from '../config/environment.ts';
import { configSchema } from '../config/schema.ts';

/** Matches the names of settings whose values are secrets. Those of files with secrets end in `File`, and are paths. */
const SECRET = /(?:secret|password|token)$/i;

export type ShownSetting = {
  /** Key, such as `http.port`. */
  key: string;
  /** Variable that sets it; null when none can. */
  environment: string | null;
  description: string;
  /** Value in effect and default, as JSON. That of a secret is null, and its default is the empty text. */
  value: unknown;
  default: unknown;
  source: 'default' | 'file' | 'environment';
  isSecret: boolean;
};

/** The settings as the control socket answers with them. `file` is null when the daemon was started without one. */
export type ShownSettings = { file: string | null; settings: ShownSetting[] };

/** Returns all settings in the order of the documentation. No value of a secret is among them. */
export function showSettings(config: Config): ShownSettings {
  const settings = leaves(configSchema).map(({ path, schema }): ShownSetting => {
    const key = path.join('.');
    const isSecret = SECRET.test(path.at(-1) ?? '');
    return {
      key,
      environment: isListOfObjects(schema) ? null : environmentName(path),
      description: 'description' in schema ? String(schema.description) : '',
      value: isSecret ? null : withoutSecrets(valueAt(config, path)),
      default: 'default' in schema ? schema.default : null,
      source: config.sources[key] ?? 'default',
      isSecret,
    };
  });
  return { file: config.file, settings };
}

/** Returns a value without the secrets in its parts, such as in an item of a list. */
export function withoutSecrets(value: unknown): unknown {
  const text = JSON.stringify(value, (name, part: unknown) => (SECRET.test(name) ? null : part));
  return text === undefined ? null : (JSON.parse(text) as unknown);
}
