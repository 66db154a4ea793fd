/**
 * Writes the types of the library for Node.js from the OpenAPI document:
 *
 *     node --import ./bin/typescript.ts sdk/tools/types-node.ts
 *
 * A type that has all fields of another one extends it, which keeps the package small.
 */
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { readDocument, readOperations } from './openapi.ts';
import { type ApiTypes, type Field, type NamedType, readTypes, type TypeTree } from './schemas.ts';

export const NODE_TYPES = new URL('../node/src/types.ts', import.meta.url);
/** Length of a line of the repository. */
const LINE = 110;
/** Number of characters that sharing must save, because it makes a type harder to read. */
const MIN_SAVING = 60;

const HEAD = `// This file is written by sdk/tools/types-node.ts. Do not edit it.
import type { AttachmentContent } from './attachments.ts';

/** One of the values that are known today, or one that a newer server has added. */
export type Known<T extends string> = T | (string & {});
`;

/** Fields of every list, which are one type. */
const PAGE_FIELDS = ['limit', 'startingAfter', 'endingBefore'];

export function emitNodeTypes(api: ApiTypes): string {
  const types = withPageQuery(api.types);
  const events = Object.values(api.events).map((name) => `  | ${name}`);
  return [
    HEAD,
    ...types.map((type) => emitType(type, types)),
    `/** An event as it is posted to a webhook. A newer server may send other types: ignore those that you do not know. */`,
    `export type WebhookEvent =\n${events.join('\n')};\n`,
  ].join('\n');
}

/** Puts the query that most lists share before the others. */
function withPageQuery(types: readonly NamedType[]): NamedType[] {
  const plain = types.find(
    ({ use, fields }) =>
      use === 'query' && fields.length === 3 && fields.every(({ name }) => PAGE_FIELDS.includes(name)),
  );
  if (plain === undefined) return [...types];
  const shared = { ...plain, name: 'PageQuery', description: 'The query of a list.' };
  return [shared, ...types.map((type) => (type === plain ? { ...plain, sameAs: 'PageQuery' } : type))];
}

function emitType(type: NamedType, types: readonly NamedType[]): string {
  const head = comment(type.description, '');
  if (type.sameAs !== undefined) return `${head}export type ${type.name} = ${type.sameAs};\n`;
  if (type.fields.length === 0) return `${head}export type ${type.name} = Record<string, never>;\n`;
  const { bases, own } = share(type, types);
  const extended = bases.length === 0 ? '' : ` extends ${bases.join(', ')}`;
  return `${head}export interface ${type.name}${extended} {\n${own.map((field) => emitField(field, isInput(type))).join('')}}\n`;
}

type Base = { text: string; fields: readonly Field[] };

/** Takes from the types before this one what saves most, as long as it saves something. */
function share(type: NamedType, types: readonly NamedType[]): { bases: string[]; own: readonly Field[] } {
  const before = types.slice(0, types.indexOf(type)).filter(({ sameAs }) => sameAs === undefined);
  const bases: string[] = [];
  let own = type.fields;
  for (;;) {
    const best = before
      .flatMap((other) => basesOf(own, other))
      .toSorted((one, other) => saving(other) - saving(one))[0];
    if (best === undefined || saving(best) < MIN_SAVING) return { bases, own };
    bases.push(best.text);
    own = own.filter((field) => !best.fields.includes(field));
  }
}

/** Returns the ways to take fields from another type: all of them, or some; as they are, or as optional ones. */
function basesOf(own: readonly Field[], { name, fields }: NamedType): Base[] {
  return [false, true].flatMap((isPartial): Base[] => {
    const taken = fields.filter((field) =>
      own.some((mine) => isShared(mine, isPartial ? { ...field, required: false } : field)),
    );
    const names = new Set(taken.map((field) => field.name));
    const left = fields.filter((field) => !names.has(field.name));
    const whole = left.length === 0 ? name : shorter(pick('Pick', name, taken), pick('Omit', name, left));
    const text = isPartial ? `Partial<${whole}>` : whole;
    return names.size === 0 ? [] : [{ text, fields: own.filter((field) => names.has(field.name)) }];
  });
}

function pick(helper: string, name: string, fields: readonly Field[]): string {
  return `${helper}<${name}, ${fields.map((field) => `'${field.name}'`).join(' | ')}>`;
}

function shorter(one: string, other: string): string {
  return one.length <= other.length ? one : other;
}

/** Number of characters that are not written when a base is taken. */
function saving({ text, fields }: Base): number {
  return fields.map((field) => emitField(field, false)).join('').length - text.length;
}

function isShared(one: Field, other: Field): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Says whether programs write values of a type, which may then have lists that nothing changes. */
function isInput({ use }: NamedType): boolean {
  return use === 'body' || use === 'query';
}

function emitField(field: Field, isInput: boolean): string {
  const name = /^[A-Za-z_$][\w$]*$/.test(field.name) ? field.name : `'${field.name}'`;
  const type = field.nullable ? `${emitTree(field.type, isInput)} | null` : emitTree(field.type, isInput);
  const own = field.name === 'content' && /base64/.test(field.description ?? '') ? 'AttachmentContent' : type;
  return `${comment(field.description, '  ')}  ${name}${field.required ? '' : '?'}: ${own};\n`;
}

function emitTree(tree: TypeTree, isInput: boolean): string {
  switch (tree.kind) {
    case 'string':
      return tree.values === undefined ? 'string' : emitValues(tree.values, tree.isFixed ?? false);
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
    case 'null':
      return tree.kind;
    case 'any':
      return 'unknown';
    case 'list':
      return emitList(emitTree(tree.items, isInput), isInput);
    case 'map':
      return `Record<string, ${emitTree(tree.values, isInput)}>`;
    case 'named':
      return tree.name;
    case 'union':
      return [...new Set(tree.of.map((one) => emitTree(one, isInput)))].join(' | ');
  }
}

function emitList(items: string, isInput: boolean): string {
  const list = /[ |]/.test(items) ? `(${items})[]` : `${items}[]`;
  return isInput ? `readonly ${list}` : list;
}

function emitValues(values: readonly string[], isFixed: boolean): string {
  const text = values.map((value) => `'${value}'`).join(' | ');
  return isFixed ? text : `Known<${text}>`;
}

function comment(description: string | undefined, indent: string): string {
  if (description === undefined) return '';
  const text = description.replaceAll('*/', '* /').replaceAll(/\s+/g, ' ').trim();
  if (indent.length + text.length + 8 <= LINE) return `${indent}/** ${text} */\n`;
  return `${indent}/**\n${wrap(text, LINE - indent.length - 3)
    .map((line) => `${indent} * ${line}\n`)
    .join('')}${indent} */\n`;
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(NODE_TYPES, emitNodeTypes(readTypes(await readDocument(), readOperations())));
}
