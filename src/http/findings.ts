/**
 * Describes what a schema found wrong, in words for people and with the caller's own field names (api.md 1.1). A schema
 * says with its `description` what a pattern means; the pattern itself is for programs.
 */
import type { Issue } from '../system/errors.ts';
import { PLAIN_TEXT } from './plain-text.ts';

/** One error of Ajv with `verbose`; the schemas have no `$ref`, so that `schemaPath` leads through all of them. */
export type Finding = {
  keyword: string;
  instancePath: string;
  schemaPath: string;
  params: Readonly<Record<string, unknown>>;
  /** Of the name that a key was found wrong by. */
  propertyName?: string;
  parentSchema?: Readonly<Record<string, unknown>>;
};

/** A key is the caller's, and may be as long as the body. */
const MOST_KEY_CHARACTERS = 100;

/** A finding, or what became of all findings below a union of schemas. */
type Told = Pick<Finding, 'keyword' | 'instancePath' | 'schemaPath'> & { types: string[]; issues: Issue[] };

/**
 * Turns the findings of one value into issues, each field once, in the order in which Ajv reports them (`allErrors`).
 * The result is never empty, since a schema that fails says why. A path is '' when the value as a whole is wrong.
 *
 * Runs in linear time: a hostile body has as many findings as values.
 */
export function describeFindings(findings: readonly Finding[]): Issue[] {
  const told: Told[] = [];
  for (const finding of findings) {
    if (UNIONS.includes(finding.keyword)) told.push(describeUnion(finding, takeBranches(told, finding)));
    else if (!UNTELLING.includes(finding.keyword)) told.push(describeOne(finding));
  }
  const issues = new Map<string, Issue>();
  for (const issue of told.flatMap((one) => one.issues)) {
    if (!issues.has(issue.path)) issues.set(issue.path, issue);
  }
  return issues.size > 0 ? [...issues.values()] : [{ path: '', message: 'is not valid' }];
}

/** Keywords of which Ajv first reports why each branch fails, and then that none holds. */
const UNIONS = ['anyOf', 'oneOf'];
/** Keywords that only say that something below them was found. */
const UNTELLING = ['if', 'propertyNames'];

function describeOne(finding: Finding): Told {
  const { keyword, instancePath, schemaPath, params } = finding;
  const types = keyword === 'type' ? [params['type']].flat().map(nameOfType) : [];
  const message = types.length > 0 ? `must be ${types.join(' or ')}` : wordsFor(finding);
  return { keyword, instancePath, schemaPath, types, issues: [{ path: pathOf(finding), message }] };
}

/** Takes what was told of the branches of a union off the end of the list: Ajv reports them right before the union. */
function takeBranches(told: Told[], union: Finding): Told[] {
  let start = told.length;
  while (start > 0 && told[start - 1]?.schemaPath.startsWith(`${union.schemaPath}/`)) start--;
  return told.splice(start);
}

/**
 * A value that no branch allows is blamed for the branch that it came furthest in. Where it is of no branch's type, all
 * their types are named.
 */
function describeUnion(union: Finding, branches: readonly Told[]): Told {
  const { keyword, instancePath, schemaPath } = union;
  const best = mostTelling(branches);
  if (!best) return describeOne(union);
  if (best.keyword === 'type' && best.instancePath === instancePath) {
    const types = [...new Set(branches.flatMap((branch) => branch.types))];
    const issues = [{ path: pathOf(union), message: `must be ${types.join(' or ')}` }];
    return { keyword: 'type', instancePath, schemaPath, types, issues };
  }
  const branch = branchOf(best, union);
  const issues = branches.filter((one) => branchOf(one, union) === branch).flatMap((one) => one.issues);
  return { keyword, instancePath: best.instancePath, schemaPath, types: [], issues };
}

/** The deepest finding tells most, and among those at one place a wrong type tells least. */
function mostTelling(told: readonly Told[]): Told | undefined {
  const score = ({ instancePath, keyword }: Told) =>
    instancePath.split('/').length * 2 + (keyword === 'type' ? 0 : 1);
  const [first, ...others] = told;
  return first && others.reduce((best, one) => (score(one) > score(best) ? one : best), first);
}

/** The position of the branch in its union: `1` of `#/properties/to/anyOf/1/items/type`. */
function branchOf({ schemaPath }: Told, union: Finding): string | undefined {
  return schemaPath.slice(union.schemaPath.length + 1).split('/')[0];
}

function pathOf({ instancePath, params, propertyName }: Finding): string {
  const path = toPath(instancePath);
  const key = params['missingProperty'] ?? params['additionalProperty'] ?? propertyName;
  return typeof key === 'string' ? join(path, key) : path;
}

/** `/attachments/1/path` is `attachments[1].path`. */
function toPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) && path !== '' ? `${path}[${part}]` : join(path, part)), '');
}

function join(path: string, key: string): string {
  const short = key.length > MOST_KEY_CHARACTERS ? `${key.slice(0, MOST_KEY_CHARACTERS)}…` : key;
  return path === '' ? short : `${path}.${short}`;
}

function wordsFor({ keyword, params, parentSchema = {}, propertyName }: Finding): string {
  const limit = Number(params['limit']);
  if (propertyName !== undefined) return `is not a name that is allowed here${meaningOf(parentSchema)}`;
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'enum':
      return `must be one of ${[params['allowedValues']].flat().join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${count(limit, 'character')}`;
    case 'minItems':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} items`;
    case 'maxItems':
      return `must have at most ${count(limit, 'item')}`;
    case 'minProperties':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} entries`;
    case 'maxProperties':
      return `must have at most ${limit} entries`;
    case 'minimum':
    case 'maximum':
      return `must be ${rangeOf(parentSchema)}`;
    case 'uniqueItems':
      return 'must not name anything twice';
    case 'additionalProperties':
      return 'is not a field';
    case 'pattern':
      return wordsForPattern(String(params['pattern']), parentSchema);
    default:
      return `is not valid${meaningOf(parentSchema)}`;
  }
}

function count(limit: number, thing: string): string {
  return `${limit} ${thing}${limit === 1 ? '' : 's'}`;
}

function rangeOf({ minimum, maximum }: Readonly<Record<string, unknown>>): string {
  if (minimum !== undefined && maximum !== undefined) return `between ${minimum} and ${maximum}`;
  return minimum === undefined ? `at most ${maximum}` : `at least ${minimum}`;
}

function wordsForPattern(pattern: string, schema: Readonly<Record<string, unknown>>): string {
  if (pattern === PLAIN_TEXT) return 'must be plain text in one line, without control characters';
  return `has a form that is not allowed${meaningOf(schema)}`;
}

function meaningOf({ description }: Readonly<Record<string, unknown>>): string {
  return typeof description === 'string' ? `: ${description}` : '';
}

function nameOfType(type: unknown): string {
  switch (type) {
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'a list';
    case 'integer':
      return 'a whole number';
    case 'object':
      return 'an object';
    case 'null':
      return 'null';
    default:
      return `a ${type}`;
  }
}
