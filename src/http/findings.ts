/**
 * What a schema found wrong, in words for people and with the caller's own field names (api.md 1.1). A schema says with its
 * `description` what a pattern means; the pattern itself is for programs.
 */
import type { Issue } from '../system/errors.ts';
import { PLAIN_TEXT } from './plain-text.ts';

/** As Ajv reports it, with `verbose`. */
export type Finding = {
  keyword: string;
  instancePath: string;
  params: Readonly<Record<string, unknown>>;
  /** Of the name that a key was found wrong by. */
  propertyName?: string;
  parentSchema?: Readonly<Record<string, unknown>>;
};

/** A key is the caller's, and may be as long as the body. */
const MOST_KEY_CHARACTERS = 100;

/** Never empty: a schema that fails says why. The path is '' when it is the whole that is wrong. */
export function describeFindings(findings: readonly Finding[]): Issue {
  const finding = mostTelling(findings);
  const path = pathOf(finding);
  if (finding.keyword !== 'type') return { path, message: wordsFor(finding) };
  const there = findings.filter(
    ({ keyword, instancePath }) => keyword === 'type' && instancePath === finding.instancePath,
  );
  const types = new Set(there.flatMap(({ params }) => [params['type']].flat().map(nameOfType)));
  return { path, message: `must be ${[...types].join(' or ')}` };
}

/**
 * Where a field may be a string or a list, Ajv reports why it is neither. The deepest finding says most, and among those
 * at one place a wrong type says least.
 */
function mostTelling(findings: readonly Finding[]): Finding {
  const score = ({ instancePath, keyword }: Finding) =>
    instancePath.split('/').length * 4 + (UNTELLING.includes(keyword) ? 0 : keyword === 'type' ? 1 : 2);
  return findings.reduce((best, finding) => (score(finding) > score(best) ? finding : best));
}

/** They only say that something below them was found. */
const UNTELLING = ['anyOf', 'oneOf', 'allOf', 'if', 'propertyNames'];

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
