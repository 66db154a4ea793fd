/** Reads the back-off rules from YAML (config/data-table.ts). A mistake anywhere refuses the whole file, and names its row. */
import { type Static, Type } from 'typebox';
import { DataTableError, listOf, oneOrMore, parseShape } from '../../config/data-table.ts';
import { packagedProviders } from '../../providers/table.ts';
import { REPLY_CLASSES } from '../outcome/replies/meaning.ts';
import { isUsablePhrase } from '../outcome/replies/phrases.ts';
import { type Rule, TARGETS } from './rule.ts';

/** Maximum number of rules. Each is compared with every refusal. */
const MAX_RULES = 500;
/** Maximum number of matches that a rule may wait for, which are kept in memory. */
const MAX_MATCHES = 100;
const MAX_PHRASE_CHARACTERS = 200;
/** Maximum time of a rule, which is also the maximum age of mail. */
const MAX_TIME_MS = 7 * 86_400_000;

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const time = Type.String({ pattern: '^[1-9][0-9]{0,5}[smhd]$' });
const limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 }));
const phrase = Type.String({ minLength: 1, maxLength: MAX_PHRASE_CHARACTERS });
const strict = { additionalProperties: false };

const ruleSchema = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,59}$' }),
    provider: oneOrMore(Type.String()),
    class: oneOrMore(Type.Enum([...REPLY_CLASSES])),
    code: oneOrMore(Type.Union([Type.Integer({ minimum: 400, maximum: 599 }), Type.Enum(['4xx', '5xx'])])),
    enhanced: oneOrMore(Type.String({ pattern: '^[45x]\\.(\\d{1,3}|x)\\.(\\d{1,3}|x)$' })),
    text: oneOrMore(phrase),
    unless: oneOrMore(phrase),
    names: oneOrMore(Type.String({ pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$' })),
    matches: Type.Integer({ minimum: 1, maximum: MAX_MATCHES }),
    within: time,
    on: Type.Enum([...TARGETS]),
    rest: Type.Optional(Type.Literal(true)),
    lower: Type.Optional(
      Type.Object({ connections: limit, connectionsPerMinute: limit, recipientsPerMinute: limit }, strict),
    ),
    for: time,
    source: Type.String({ minLength: 1 }),
  },
  strict,
);
type FileRule = Static<typeof ruleSchema>;
const fileSchema = Type.Object({ rules: Type.Array(ruleSchema, { maxItems: MAX_RULES }) }, strict);

/**
 * Returns the rules of a file.
 * @throws DataTableError
 */
export function parseRules(yaml: string): readonly Rule[] {
  const rules = parseShape(fileSchema, yaml).rules.map(ruleOf);
  const ids = new Set<string>();
  for (const rule of rules) {
    const problem = ids.has(rule.id) ? 'another row has the same id' : problemOf(rule);
    if (problem !== undefined) throw new DataTableError(`rules: row "${rule.id}": ${problem}`);
    ids.add(rule.id);
  }
  return rules;
}

function ruleOf({ lower, rest, ...row }: FileRule): Rule {
  if ((lower === undefined) === (rest === undefined))
    throw new DataTableError(`rules: row "${row.id}": needs either "rest" or "lower"`);
  return {
    id: row.id,
    providers: listOf(row.provider),
    classes: listOf(row.class),
    codes: listOf(row.code).map(String),
    enhanced: listOf(row.enhanced),
    text: listOf(row.text),
    unless: listOf(row.unless),
    names: listOf(row.names),
    matches: row.matches,
    withinMs: msOf(row.within),
    on: row.on,
    lower: lower ?? null,
    forMs: msOf(row.for),
    source: row.source,
  };
}

function msOf(time: string): number {
  return Number(time.slice(0, -1)) * UNIT_MS[time.slice(-1) as keyof typeof UNIT_MS];
}

function problemOf(rule: Rule): string | undefined {
  const { providers, classes, codes, enhanced, text, unless, names, withinMs, forMs } = rule;
  const known = packagedProviders().providers.map(({ name }) => name);
  const stranger = providers.find((provider) => !known.includes(provider));
  if (stranger !== undefined) return `config/providers.yaml has no provider ${stranger}`;
  if ([classes, codes, enhanced, text, names].every((conditions) => conditions.length === 0))
    return 'needs a condition on the reply: "class", "code", "enhanced", "text" or "names"';
  if (rule.lower !== null && (rule.on === 'tenant' || rule.on === 'source'))
    return `a ${rule.on} can only rest: limits are those of a site or a provider`;
  if (rule.lower !== null && Object.keys(rule.lower).length === 0) return '"lower" sets no limit';
  if (withinMs > MAX_TIME_MS || forMs > MAX_TIME_MS) return '"within" and "for" are at most 7d';
  const bad = [...text, ...unless].find((one) => !isUsablePhrase(one));
  return bad === undefined ? undefined : `the phrase "${bad}" has no words beside a gap, or too many`;
}
