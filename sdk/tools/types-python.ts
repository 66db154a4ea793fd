/**
 * Writes the types of the library for Python from the OpenAPI document:
 *
 *     node --import ./bin/typescript.ts sdk/tools/types-python.ts
 *
 * They are stubs in a package of their own, because the descriptions of all fields are larger than the library.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { readDocument, readOperations } from './openapi.ts';
import {
  type ApiTypes,
  type Field,
  type NamedType,
  type OperationTypes,
  readTypes,
  type TypeTree,
} from './schemas.ts';

export const PYTHON_STUBS = new URL('../python/stubs/postrider-stubs/', import.meta.url);

const HEAD = '# This file is written by sdk/tools/types-python.ts. Do not edit it.\n';
const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);
/** Attributes of a dict, which a field of an answer must not hide. */
const DICT_METHODS = new Set(
  'clear copy fromkeys get items keys pop popitem setdefault update values'.split(' '),
);
/** Fields of requests that take a `datetime` too. */
const TIME = /^(\w*At|createdAfter|createdBefore|since)$/;

/** Returns the content of each file by its name. */
export function emitPythonStubs(api: ApiTypes): Record<string, string> {
  return {
    'types.pyi': emitTypes(api),
    'resources.pyi': emitResources(api, false),
    'async_resources.pyi': emitResources(api, true),
  };
}

function emitTypes(api: ApiTypes): string {
  const inputs = inputsOf(api.types);
  const events = Object.values(api.events);
  return [
    `${HEAD}from datetime import datetime`,
    'from os import PathLike',
    'from typing import IO, Any, Dict, Iterable, List, Literal, Mapping, Optional, Sequence, TypedDict, Union\n',
    'from typing_extensions import NotRequired\n',
    'from .objects import Object',
    'from .transport import Cancellation\n',
    'Content = Union[str, bytes, bytearray, memoryview, PathLike[str], IO[bytes], Iterable[bytes]]',
    docstring(
      'Content of an attachment: base64 in a string, or bytes, a path, an open file or a stream.',
      '',
    ),
    'class Options(TypedDict, total=False):',
    '    idempotency_key: str',
    docstring('Key of a send. A repeated send with the same key cannot send twice.', '    '),
    '    timeout: float',
    docstring('Seconds that a try may take.', '    '),
    '    deadline: float',
    docstring('Seconds that the whole call may take.', '    '),
    '    cancellation: Cancellation\n',
    ...inputs.map(emitInput),
    ...api.types.filter(({ use }) => use === 'answer' || use === 'event').map(emitAnswer),
    `Event = Union[${events.join(', ')}]`,
    docstring('An event as it is posted to a webhook endpoint. A newer daemon may send others.', ''),
  ].join('\n');
}

/** Types that stand in bodies, which are plain dicts there, also when an answer has the same. */
function inputsOf(types: readonly NamedType[]): NamedType[] {
  const byName = new Map(types.map((type) => [type.name, type]));
  const found = new Map<string, NamedType>();
  const add = (name: string) => {
    const type = byName.get(name);
    if (type === undefined || found.has(name)) return;
    found.set(name, type);
    for (const field of type.fields) for (const inner of namesIn(field.type)) add(inner);
  };
  for (const type of types) if (type.use === 'body') add(type.name);
  return [...found.values()];
}

function namesIn(tree: TypeTree): string[] {
  switch (tree.kind) {
    case 'named':
      return [tree.name];
    case 'list':
      return namesIn(tree.items);
    case 'map':
      return namesIn(tree.values);
    case 'union':
      return tree.of.flatMap(namesIn);
    default:
      return [];
  }
}

function emitInput({ name, fields, description }: NamedType): string {
  const entries = fields.map((field) => {
    const type = inputField(field, name);
    return `${commented(field.description)}        "${field.name}": ${field.required ? type : `NotRequired[${type}]`},\n`;
  });
  const about = description === undefined ? '' : docstring(description, '');
  return `${inputName(name)} = TypedDict(\n    "${inputName(name)}",\n    {\n${entries.join('')}    },\n)\n${about}`;
}

function emitAnswer({ name, fields, description, sameAs }: NamedType): string {
  if (sameAs !== undefined) return `${name} = ${sameAs}\n`;
  const about = description === undefined ? '' : docstring(description, '    ');
  const attributes = fields.map((field) => {
    const type = typeOf(field.type, answers);
    // An absent field has no attribute, which a type cannot say. Its description says when it is there.
    const text = field.nullable ? `Optional[${type}]` : type;
    return `    ${attribute(field.name)}: ${text}\n${field.description === undefined ? '' : docstring(field.description, '    ')}`;
  });
  return `class ${name}(Object):\n${about}${attributes.join('') || (about === '' ? '    ...\n' : '')}`;
}

type Style = {
  named(name: string): string;
  list(items: string): string;
  map(values: string): string;
  string(values: readonly string[] | undefined, isFixed: boolean): string;
};

const answers: Style = {
  named: (name) => name,
  list: (items) => `List[${items}]`,
  map: (values) => `Dict[str, ${values}]`,
  string: (values, isFixed) => (values === undefined || !isFixed ? 'str' : literal(values)),
};

/** Literals serve completion in editors. Any text is allowed too, because a newer daemon may know more. */
const inputs: Style = {
  named: inputName,
  list: (items) => `Sequence[${items}]`,
  map: (values) => `Mapping[str, ${values}]`,
  string: (values) => (values === undefined ? 'str' : `Union[${literal(values)}, str]`),
};

/** Within methods, whose resources have a method \`list\`, types stand behind their module. */
const outside: Style = {
  ...inputs,
  named: (name) => `types.${inputName(name)}`,
};

function inputName(name: string): string {
  return name.includes('Body') ? name : `${name}Input`;
}

function literal(values: readonly string[]): string {
  return `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
}

function typeOf(tree: TypeTree, style: Style): string {
  switch (tree.kind) {
    case 'string':
      return style.string(tree.values, tree.isFixed ?? false);
    case 'integer':
      return 'int';
    case 'number':
      return 'float';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'None';
    case 'any':
      return 'Any';
    case 'list':
      return style.list(typeOf(tree.items, style));
    case 'map':
      return style.map(typeOf(tree.values, style));
    case 'named':
      return style.named(tree.name);
    case 'union':
      return `Union[${[...new Set(tree.of.map((one) => typeOf(one, style)))].join(', ')}]`;
  }
}

function inputField(field: Field, owner: string, style: Style = inputs): string {
  const isContent = field.name === 'content' && owner.endsWith('Attachment');
  const plain = isContent ? 'Content' : typeOf(field.type, style);
  const type = TIME.test(field.name) && plain === 'str' ? 'Union[str, datetime]' : plain;
  return field.nullable ? `Optional[${type}]` : type;
}

function emitResources(api: ApiTypes, isAsync: boolean): string {
  const groups = new Map<string, OperationTypes[]>();
  for (const operation of api.operations) {
    const path = operation.call.split('.').slice(0, -1);
    for (let length = 1; length <= path.length; length++) {
      const group = path.slice(0, length).join('.');
      if (!groups.has(group)) groups.set(group, []);
    }
    groups.get(path.join('.'))?.push(operation);
  }
  const names = [...groups.keys()].sort(
    (a, b) => b.split('.').length - a.split('.').length || (a < b ? -1 : 1),
  );
  const within = (group: string) =>
    names
      .filter((name) => name.startsWith(`${group}.`))
      .map((name) => `    ${snake(name.slice(group.length + 1))}: ${className(name)}\n`);
  const classes = names.map((group) => {
    const methods = (groups.get(group) ?? []).map((operation) => emitMethod(operation, api, isAsync));
    const extra = group === 'webhooks' ? WEBHOOKS : '';
    return `class ${className(group)}:\n${[...within(group), ...methods].join('')}${extra}\n`;
  });
  const top = names
    .filter((name) => !name.includes('.'))
    .map((name) => `    ${snake(name)}: ${className(name)}\n`);
  const from = isAsync
    ? 'from .aio import AsyncList, AsyncStream'
    : 'from .pages import Page\nfrom .streams import Stream';
  return [
    `${HEAD}from datetime import datetime`,
    'from typing import Any, Dict, IO, Iterable, List, Literal, Mapping, Optional, Sequence, Union\n',
    `from . import types\n${from}`,
    'from .webhooks import sign, verify\n',
    'File = Union[str, bytes, bytearray, memoryview, IO[bytes], Iterable[bytes]]\n',
    ...classes,
    `class ${isAsync ? 'AsyncResources' : 'Resources'}:\n${top.join('')}`,
  ].join('\n');
}

const WEBHOOKS = '    verify = staticmethod(verify)\n    sign = staticmethod(sign)\n';

function emitMethod(operation: OperationTypes, api: ApiTypes, isAsync: boolean): string {
  const name = snake(operation.call.slice(operation.call.lastIndexOf('.') + 1));
  const fields = [operation.bodyType, operation.queryType].flatMap((type) =>
    (api.types.find((one) => one.name === type)?.fields ?? []).map((field) => ({ field, owner: type ?? '' })),
  );
  const path = operation.pathParameters.map(
    (parameter) => `${snake(parameter)}: ${parameter === 'number' ? 'Union[int, str]' : 'str'}`,
  );
  const positional = [...path, ...(operation.body === 'csv' ? ['file: File'] : [])];
  const keywords = fields.map(({ field, owner }) => {
    const type = inputField(field, owner, outside);
    return `${keyword(field.name)}: ${type}${field.required ? '' : ' = ...'}`;
  });
  const parameters = [
    'self',
    ...positional,
    ...(positional.length > 0 ? ['/'] : []),
    '*',
    ...keywords,
    'options: Optional[types.Options] = ...',
  ];
  const isPage = operation.answer === 'page';
  const answer = answerText(operation, isAsync);
  const details = fields.flatMap(({ field }) =>
    field.description === undefined ? [] : [`${keyword(field.name)}: ${field.description}`],
  );
  const about = [
    `${operation.summary}.`,
    ...(operation.description === undefined ? [] : [operation.description]),
    ...details,
  ].join('\n\n');
  return `    ${isAsync && !isPage ? 'async ' : ''}def ${name}(\n${parameters.map((one) => `        ${one},\n`).join('')}    ) -> ${answer}:\n${docstring(about, '        ')}        ...\n`;
}

function answerText({ answer, answerType }: OperationTypes, isAsync: boolean): string {
  if (answer === 'none') return 'None';
  if (answer === 'stream') return isAsync ? 'AsyncStream' : 'Stream';
  const type =
    answerType === undefined ? 'Any' : typeOf(answerType, { ...answers, named: (name) => `types.${name}` });
  if (answer === 'page') return `${isAsync ? 'AsyncList' : 'Page'}[${type}]`;
  return type;
}

function className(group: string): string {
  return group
    .split('.')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function keyword(name: string): string {
  const word = snake(name);
  return KEYWORDS.has(word) ? `${word}_` : word;
}

function attribute(name: string): string {
  const word = keyword(name);
  return DICT_METHODS.has(word) ? `${word}_` : word;
}

function docstring(text: string, indent: string): string {
  const lines = text.replaceAll('\\', '\\\\').replaceAll('"""', "'''").split('\n');
  const safe = lines.map((line, index) => (index === 0 || line === '' ? line : indent + line)).join('\n');
  return `${indent}"""${safe.endsWith('"') ? `${safe} ` : safe}"""\n`;
}

function commented(text: string | undefined): string {
  if (text === undefined) return '';
  return text
    .split('\n')
    .map((line) => `        # ${line}\n`)
    .join('');
}

export async function readPythonStubs(): Promise<Record<string, string>> {
  return emitPythonStubs(readTypes(await readDocument(), readOperations()));
}

/** Returns the names of the files that are not as the document says. */
export function outdatedStubs(files: Record<string, string>): string[] {
  return Object.entries(files).flatMap(([name, text]) =>
    readFileSync(new URL(name, PYTHON_STUBS), 'utf8') === text ? [] : [name],
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [name, text] of Object.entries(await readPythonStubs()))
    writeFileSync(new URL(name, PYTHON_STUBS), text);
}
