/**
 * Describes schema errors in words for people and with the caller's own field names. The `description` of a schema
 * explains its pattern to people; the pattern itself is for programs.
 */
import type { Issue } from '../../system/errors.ts';
import { PLAIN_TEXT } from './plain-text.ts';
import { MAX_ISSUES } from './read-fields.ts';

/**
 * One error of Ajv with the option `verbose`. The schemas have no `$ref`, so `schemaPath` leads through all of them.
 */
export type Finding = {
  keyword: string;
  instancePath: string;
  schemaPath: string;
  params: Readonly<Record<string, unknown>>;
  /** Name of the member whose name is not valid. */
  propertyName?: string;
  parentSchema?: Readonly<Record<string, unknown>>;
};

/** Maximum length of a JSON pointer that is read: the caller chooses its keys, which may be as long as the body. */
const MAX_POINTER_CHARACTERS = 2_000;
/** Maximum length of a member name in a message: the caller chooses its keys, which may be as long as the body. */
const MAX_KEY_CHARACTERS = 100;

/**
 * Findings to report, in order: one finding, or those of a union's branch. `types` names the types of all branches when the
 * value has none of them.
 */
type Group = Pick<Finding, 'keyword' | 'instancePath' | 'schemaPath'> & {
  blamed: readonly Finding[];
  types?: readonly string[];
};

/** Maximum number of findings kept of one branch: several may be about one field, and at most MAX_ISSUES fields are listed. */
const MAX_BLAMED = 10 * MAX_ISSUES;

/**
 * Turns the findings of one value into issues, each field once, at most MAX_ISSUES, in the order in which Ajv reports
 * them (`allErrors`). The result is never empty, since a schema that fails says why. A path is '' when the value as a
 * whole is wrong.
 *
 * A hostile body has tens of thousands of findings, so nothing is put into words before it is known to be listed.
 */
export function describeFindings(findings: readonly Finding[]): Issue[] {
  const groups: Group[] = [];
  for (const finding of findings) {
    if (UNIONS.includes(finding.keyword)) groups.push(chooseBranch(finding, takeBranches(groups, finding)));
    else if (!UNHELPFUL_KEYWORDS.includes(finding.keyword)) groups.push(groupOf(finding));
  }
  const issues = new Map<string, Issue>();
  for (const { blamed, types } of groups) {
    for (const finding of blamed) {
      const path = pathOf(finding);
      if (issues.has(path)) continue;
      issues.set(path, { path, message: types ? `must be ${types.join(' or ')}` : wordsFor(finding) });
      if (issues.size === MAX_ISSUES) return [...issues.values()];
    }
  }
  return issues.size > 0 ? [...issues.values()] : [{ path: '', message: 'is not valid' }];
}

/** Keywords for which Ajv first reports why each branch fails, and then that none holds. */
const UNIONS = ['anyOf', 'oneOf'];
/** Keywords that only report that another finding exists below them. */
const UNHELPFUL_KEYWORDS = ['if', 'propertyNames'];

function groupOf(finding: Finding): Group {
  const { keyword, instancePath, schemaPath } = finding;
  return { keyword, instancePath, schemaPath, blamed: [finding] };
}

/** Removes the groups of a union's branches from the end of the list: Ajv reports them right before the union. */
function takeBranches(groups: Group[], union: Finding): Group[] {
  const prefix = `${union.schemaPath}/`;
  let start = groups.length;
  while (start > 0 && groups[start - 1]?.schemaPath.startsWith(prefix)) start--;
  return groups.splice(start);
}

/**
 * Chooses the branch of the union that the value comes closest to. When its type is wrong for every branch, the group
 * names all their types.
 */
function chooseBranch(union: Finding, branches: readonly Group[]): Group {
  const { keyword, instancePath, schemaPath } = union;
  const best = findMostSpecific(branches);
  if (!best) return groupOf(union);
  if (best.keyword === 'type' && best.instancePath === instancePath) {
    const types = [...new Set(branches.flatMap(typesOf))];
    return { keyword: 'type', instancePath, schemaPath, blamed: [union], types };
  }
  const branch = branchOf(best, union);
  const blamed: Finding[] = [];
  for (const group of branches) {
    if (branchOf(group, union) !== branch) continue;
    blamed.push(...group.blamed);
    if (blamed.length >= MAX_BLAMED) break;
  }
  return { keyword, instancePath: best.instancePath, schemaPath, blamed };
}

/** Returns the most informative finding: the deepest one, and at the same depth any other rather than a wrong type. */
function findMostSpecific(groups: readonly Group[]): Group | undefined {
  let best: Group | undefined;
  let bestScore = -1;
  for (const group of groups) {
    const score = depthOf(group.instancePath) * 2 + (group.keyword === 'type' ? 0 : 1);
    if (score > bestScore) [best, bestScore] = [group, score];
  }
  return best;
}

function depthOf(pointer: string): number {
  let depth = 0;
  const end = Math.min(pointer.length, MAX_POINTER_CHARACTERS);
  for (let at = 0; at < end; at++) if (pointer[at] === '/') depth++;
  return depth;
}

/** Returns the position of the branch in its union: `1` of `#/properties/to/anyOf/1/items/type`. */
function branchOf({ schemaPath }: Group, union: Finding): string {
  const start = union.schemaPath.length + 1;
  const end = schemaPath.indexOf('/', start);
  return schemaPath.slice(start, end < 0 ? undefined : end);
}

function typesOf({ types, blamed: [finding] }: Group): readonly string[] {
  return types ?? namesOfTypes(finding?.params['type']);
}

function namesOfTypes(type: unknown): string[] {
  return type === undefined ? [] : [type].flat().map(nameOfType);
}

function pathOf({ instancePath, params, propertyName }: Finding): string {
  const path = toPath(instancePath);
  const key = params['missingProperty'] ?? params['additionalProperty'] ?? propertyName;
  return typeof key === 'string' ? join(path, key) : path;
}

/** Converts a JSON pointer to a path: `/attachments/1/path` becomes `attachments[1].path`. */
function toPath(pointer: string): string {
  return pointer
    .slice(0, MAX_POINTER_CHARACTERS)
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) && path !== '' ? `${path}[${part}]` : join(path, part)), '');
}

function join(path: string, key: string): string {
  const short = key.length > MAX_KEY_CHARACTERS ? `${key.slice(0, MAX_KEY_CHARACTERS)}…` : key;
  return path === '' ? short : `${path}.${short}`;
}

function wordsFor({ keyword, params, parentSchema = {}, propertyName }: Finding): string {
  const limit = Number(params['limit']);
  if (propertyName !== undefined) return `is not a name that is allowed here${meaningOf(parentSchema)}`;
  switch (keyword) {
    case 'type':
      return `must be ${namesOfTypes(params['type']).join(' or ')}`;
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
