/** Writes the example configuration file from the schema, so that it is always correct and complete. */
import { type TObject, type TSchema, Type } from 'typebox';
import { stringify } from 'yaml';
import { environmentName, isListOfObjects, leaves } from '../config/environment.ts';
import { configSchema } from '../config/schema.ts';

/** `environment` is null for a setting without a variable. */
type Setting = { key: string; environment: string | null; description: string; default: unknown };

/** Defaults that depend on the location of the program. They are shown as a packaged installation has them. */
const SHOWN_INSTEAD = new Map<string, string>([
  ['hostname', 'mail.example.com'],
  ['dataDir', '/var/lib/postrider'],
]);

const LINE_WIDTH = 100;

const HEADER = `# Configuration of Postrider: postrider serve --config FILE, or POSTRIDER_CONFIG=FILE.
# A line that begins with # and no space shows a default. To change it, remove its # and the # of its section.
# An environment variable that is named in brackets wins over this file. Lists in variables are separated by commas.`;

/** Returns all settings in the order of the schema. */
export function listSettings(): Setting[] {
  return leaves(configSchema).map(({ path, schema }) => ({
    key: path.join('.'),
    environment: isListOfObjects(schema) ? null : environmentName(path),
    description: descriptionOf(schema),
    default: SHOWN_INSTEAD.get(path.join('.')) ?? ('default' in schema ? schema.default : undefined),
  }));
}

/** Returns the text of config/postrider.example.yaml. Only the required settings are not commented out. */
export function exampleConfig(): string {
  const settings = new Map(listSettings().map((setting) => [setting.key, setting]));
  return `${[HEADER, ...blocksOf(configSchema, [], settings)].join('\n\n')}\n`;
}

function blocksOf(
  schema: TObject,
  path: readonly string[],
  settings: ReadonlyMap<string, Setting>,
): string[] {
  return Object.entries(schema.properties).map(([key, value]) => {
    if (!Type.IsObject(value)) return describe(key, settings.get([...path, key].join('.')));
    const inner = blocksOf(value, [...path, key], settings).map(intoSection);
    return [comment(descriptionOf(value)), `#${key}:`, ...inner].join('\n');
  });
}

function describe(key: string, setting: Setting | undefined): string {
  if (!setting) throw new Error(`"${key}" is not in the list of settings`);
  const line = stringify(
    { [key]: setting.default },
    { collectionStyle: 'flow', flowCollectionPadding: false },
  )
    .trim()
    .replace(/^\{(.*)\}$/, '$1');
  const value = setting.key === 'hostname' ? line : `#${line}`;
  const environment = setting.environment === null ? '' : ` (${setting.environment})`;
  return [comment(setting.description + environment), value].join('\n');
}

function comment(text: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= LINE_WIDTH) lines.push(`# ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

/**
 * Indents a block below its section. Descriptions get a second comment mark, so that they stay comments when the
 * section is uncommented.
 */
function intoSection(block: string): string {
  return block.replace(/^#( (?=\S))?/gm, (_mark, description) => (description ? '#  # ' : '#  '));
}

function descriptionOf(schema: TSchema): string {
  return 'description' in schema ? String(schema.description) : '';
}
