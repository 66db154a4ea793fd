/** The table of providers (config/providers.yaml): large receivers, how they are known, and how politely each is spoken to. */
import { type Static, Type } from 'typebox';
import { DataTableError, parseShape, readTable } from '../config/data-table.ts';
import { limitFields } from '../config/delivery.ts';
import { dataFilePath } from '../data-files.ts';

const limitsSchema = Type.Object(limitFields, { additionalProperties: false });
/** The limits of a site. One that is missing follows from the next source of limits (queue/shaping/limits-of.ts). */
export type ProviderLimits = Static<typeof limitsSchema>;

const domain = Type.String({ pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$' });
const providerSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{0,39}$' }),
    mx: Type.Array(domain, { minItems: 1 }),
    limits: Type.Optional(limitsSchema),
    ipv4First: Type.Optional(Type.Literal(true)),
    secondSignature: Type.Optional(Type.Literal(true)),
    label: Type.Optional(Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{0,39}$' })),
    source: Type.Optional(Type.String({ minLength: 1 })),
  },
  { additionalProperties: false },
);
export type Provider = Static<typeof providerSchema>;

const fileSchema = Type.Object({ providers: Type.Array(providerSchema) }, { additionalProperties: false });

/** The table in the form in which hosts are looked up. */
type ProviderTable = {
  providers: readonly Provider[];
  byHost: ReadonlyMap<string, Provider>;
};

/**
 * Returns the table of a text in YAML.
 * @throws DataTableError naming the row
 */
export function parseProviders(yaml: string): ProviderTable {
  const { providers } = parseShape(fileSchema, yaml);
  const byHost = new Map<string, Provider>();
  const names = new Set<string>();
  for (const provider of providers) {
    const refuse = (problem: string) => new DataTableError(`providers: row "${provider.name}": ${problem}`);
    const { name, mx, limits, source } = provider;
    if (names.has(name)) throw refuse('another row has the same name');
    if (limits !== undefined && source === undefined) throw refuse('"limits" need a "source"');
    names.add(name);
    const taken = mx.find((suffix) => byHost.has(suffix));
    if (taken !== undefined) throw refuse(`${taken} stands in the table twice`);
    for (const suffix of mx) byHost.set(suffix, provider);
  }
  return { providers, byHost };
}

let packaged: ProviderTable | undefined;

/** Returns the table that comes with the program. */
export function packagedProviders(): ProviderTable {
  packaged ??= readTable(dataFilePath('providers.yaml'), parseProviders);
  return packaged;
}

/** Returns the provider with the longest name that the host, in lower case, ends with; undefined for a host of none. */
export function findProvider({ byHost }: Pick<ProviderTable, 'byHost'>, host: string): Provider | undefined {
  for (let name = host; name !== ''; name = parentOf(name)) {
    const provider = byHost.get(name);
    if (provider) return provider;
  }
  return undefined;
}

function parentOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1);
}

/** Returns the name of a provider in the metrics: `other` for a host that is none of the large ones, and `none` without a host. */
export function providerLabel(host: string | null): string {
  if (host === null) return 'none';
  const provider = findProvider(packagedProviders(), host.toLowerCase());
  return provider === undefined ? 'other' : (provider.label ?? provider.name);
}
