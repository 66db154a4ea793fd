/** The table of providers (config/providers.yaml): large receivers, how they are known, and how politely each is spoken to. */
import { type Static, Type } from 'typebox';
import { DataTableError, parseShape, readTable } from '../config/data-table.ts';
import { limitFields } from '../config/delivery.ts';
import { dataFilePath } from '../data-files.ts';

/** Groups of mailboxes in GET /v1/metrics. */
export const GROUPS = ['gmail', 'yahoo', 'microsoft', 'apple', 'other'] as const;
export type Group = (typeof GROUPS)[number];

const limitsSchema = Type.Object(limitFields, { additionalProperties: false });
/** The limits of a site. One that is missing follows from the next source of limits (queue/shaping/limits-of.ts). */
export type ProviderLimits = Static<typeof limitsSchema>;

const domain = Type.String({ pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$' });
const providerSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{0,39}$' }),
    mx: Type.Array(domain, { minItems: 1 }),
    limits: Type.Optional(limitsSchema),
    secondSignature: Type.Optional(Type.Literal(true)),
    label: Type.Optional(Type.String({ pattern: '^[a-z0-9][a-z0-9.-]{0,39}$' })),
    group: Type.Optional(Type.Enum(GROUPS.filter((group) => group !== 'other'))),
    domains: Type.Optional(Type.Array(domain, { minItems: 1 })),
    source: Type.Optional(Type.String({ minLength: 1 })),
  },
  { additionalProperties: false },
);
export type Provider = Static<typeof providerSchema>;

const fileSchema = Type.Object({ providers: Type.Array(providerSchema) }, { additionalProperties: false });

/** The table in the form in which hosts and addresses are looked up. */
type ProviderTable = {
  providers: readonly Provider[];
  byHost: ReadonlyMap<string, Provider>;
  groupsByDomain: ReadonlyMap<string, Group>;
};

/**
 * Returns the table of a text in YAML.
 * @throws DataTableError naming the row
 */
export function parseProviders(yaml: string): ProviderTable {
  const { providers } = parseShape(fileSchema, yaml);
  const byHost = new Map<string, Provider>();
  const groupsByDomain = new Map<string, Group>();
  const names = new Set<string>();
  for (const provider of providers) {
    const refuse = (problem: string) => new DataTableError(`providers: row "${provider.name}": ${problem}`);
    const { name, mx, group, domains = [], limits, source } = provider;
    if (names.has(name)) throw refuse('another row has the same name');
    if ((group === undefined) !== (domains.length === 0))
      throw refuse('"group" and "domains" need each other');
    if (limits !== undefined && source === undefined) throw refuse('"limits" need a "source"');
    names.add(name);
    const taken = [
      ...mx.filter((suffix) => byHost.has(suffix)),
      ...domains.filter((own) => groupsByDomain.has(own)),
    ];
    if (taken.length > 0) throw refuse(`${taken[0]} stands in the table twice`);
    for (const suffix of mx) byHost.set(suffix, provider);
    for (const own of domains) groupsByDomain.set(own, group ?? 'other');
  }
  return { providers, byHost, groupsByDomain };
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

/** Returns the group of an address whose domain is in lower case. */
export function groupOf(address: string): Group {
  return packagedProviders().groupsByDomain.get(address.slice(address.lastIndexOf('@') + 1)) ?? 'other';
}
