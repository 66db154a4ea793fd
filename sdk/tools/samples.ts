/**
 * `node --import ./bin/typescript.ts sdk/tools/samples.ts`: writes config/code-samples.json, the same call of each operation with curl and in the
 * four libraries, from the examples of OpenAPI and the names of the operations. The reference page at `/docs` shows them.
 */
import { writeFileSync } from 'node:fs';
import { type Document, readDocument, readOperations } from './openapi.ts';
import { goBody } from './samples-go.ts';
import { type ApiTypes, type OperationTypes, readTypes } from './schemas.ts';
import { Emitter, goName } from './types-go.ts';

export const SAMPLES_FILE = new URL('../../config/code-samples.json', import.meta.url);

export type Sample = { lang: string; label: string; source: string };

/** Example of a file that is uploaded. */
const CSV = 'email,firstName\nada@example.com,Ada\n';
const BASE_URL = '$SERVICE_BASE_URL';

/** What an operation is called with. */
type Call = {
  operation: OperationTypes;
  /** Values of the parameters of the path, in their order. */
  ids: readonly (string | number)[];
  /** Example of the body; undefined when it has none, or may be left out. */
  body: object | undefined;
};

/** Returns the samples of each operation, by its id. */
export function samplesOf(document: Document, api: ApiTypes): Record<string, readonly Sample[]> {
  const emitter = new Emitter(api);
  return Object.fromEntries(
    api.operations.map((operation) => {
      const call = callOf(document, operation);
      const samples: readonly Sample[] = [
        { lang: 'Shell', label: 'curl', source: curl(call) },
        { lang: 'JavaScript', label: 'Node.js', source: node(call) },
        { lang: 'Python', label: 'Python', source: python(call) },
        { lang: 'Go', label: 'Go', source: go(call, { emitter, api }) },
        { lang: 'PHP', label: 'PHP', source: php(call) },
      ];
      return [operation.id, samples];
    }),
  );
}

function callOf(document: Document, operation: OperationTypes): Call {
  const { path, method, pathParameters } = operation;
  const described = document.paths[path]?.[method.toLowerCase()];
  const media = described?.requestBody?.content['application/json'];
  const body = operation.body === 'json' ? media?.example : undefined;
  return {
    operation,
    ids: pathParameters.map((name) => idOf(document, path, name)),
    body: isObject(body) ? body : undefined,
  };
}

/** Returns the value of a parameter: the id in the example of the resource that the path names before it. */
function idOf(document: Document, path: string, name: string): string | number {
  const parent = path.slice(0, path.indexOf(`{${name}}`));
  const get = document.paths[`${parent}{id}`]?.['get'];
  const example = get?.responses['200']?.content?.['application/json']?.example;
  if (isObject(example) && 'id' in example && typeof example.id === 'string') return example.id;
  return name === 'number' ? 0 : name.toUpperCase();
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function curl({ operation: { method, path, body: kind, pathParameters }, ids, body }: Call): string {
  const url = pathParameters.reduce(
    (text, name, index) => text.replace(`{${name}}`, String(ids[index])),
    path,
  );
  const data = kind === 'csv' ? CSV : body && JSON.stringify(body, null, 2);
  const parts = [
    `curl "${BASE_URL}${url}"`,
    ...(method === (data === undefined ? 'GET' : 'POST') ? [] : [`-X ${method}`]),
    '-H "Authorization: Bearer $SERVICE_API_KEY"',
    ...(data === undefined ? [] : [`-H 'Content-Type: ${kind === 'csv' ? 'text/csv' : 'application/json'}'`]),
    ...(data === undefined ? [] : [`--data-binary '${data.replaceAll("'", "'\\''")}'`]),
  ];
  return parts.join(' \\\n  ');
}

/** How a language writes a call. */
type Spelling = {
  value: (value: unknown, depth: number) => string;
  call: (args: string) => string;
  each: (call: string) => string;
  answer: (call: string) => string;
};

/** Returns the call with its arguments, and what is done with the answer. */
function spell({ operation, ids, body }: Call, { value, call, each, answer }: Spelling): string {
  const file = operation.body === 'csv' ? [CSV] : [];
  const args = [...ids, ...file, ...(body === undefined ? [] : [body])];
  const text = call(args.map((one) => value(one, 0)).join(', '));
  return operation.answer === 'page' ? each(text) : answer(text);
}

function node(call: Call): string {
  return spell(call, {
    value: literal({
      quote: singleQuoted,
      key: jsKey,
      open: '{',
      close: '}',
      colon: ': ',
      none: 'null',
      indent: '  ',
    }),
    call: (args) => `postrider.${call.operation.call}(${args})`,
    each: (text) => `for await (const item of ${text}) console.log(item);`,
    answer: (text) => (call.operation.answer === 'none' ? `await ${text};` : `const answer = await ${text};`),
  });
}

function php(call: Call): string {
  const [method, ...resources] = call.operation.call.split('.').toReversed();
  return spell(call, {
    value: literal({
      quote: phpQuoted,
      key: singleQuoted,
      open: '[',
      close: ']',
      colon: ' => ',
      none: 'null',
      indent: '    ',
    }),
    call: (args) => `$postrider->${[...resources.toReversed(), method].join('->')}(${args})`,
    each: (text) => `foreach (${text} as $item) {\n    print_r($item);\n}`,
    answer: (text) => (call.operation.answer === 'none' ? `${text};` : `$answer = ${text};`),
  });
}

/** Words of Python that cannot be names of arguments, among those that fields have. */
const PYTHON_KEYWORDS = new Set([
  'from',
  'import',
  'class',
  'global',
  'is',
  'in',
  'and',
  'or',
  'not',
  'pass',
]);

function python(call: Call): string {
  const { operation, ids, body } = call;
  const value = literal({
    quote: JSON.stringify,
    key: JSON.stringify,
    open: '{',
    close: '}',
    colon: ': ',
    none: 'None',
    indent: '    ',
  });
  const fields = Object.entries(body ?? {}).map(([name, one]) => {
    const snake = snakeCase(name);
    return `${PYTHON_KEYWORDS.has(snake) ? `${snake}_` : snake}=${value(one, 1)}`;
  });
  const file = operation.body === 'csv' ? [value(CSV, 0)] : [];
  const args = [...ids.map((id) => value(id, 0)), ...file];
  const inside =
    fields.length === 0
      ? args.join(', ')
      : `\n${[...args, ...fields].map((one) => `    ${one},\n`).join('')}`;
  const text = `client.${operation.call.split('.').map(snakeCase).join('.')}(${inside})`;
  if (operation.answer === 'page') return `for item in ${text}:\n    print(item)`;
  return operation.answer === 'none' ? text : `answer = ${text}`;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function go({ operation, ids, body }: Call, { emitter, api }: { emitter: Emitter; api: ApiTypes }): string {
  const { bodyType, call, queryType, answer } = operation;
  const type = api.types.find(({ name }) => name === bodyType);
  const given = type && (body === undefined ? ['nil'] : [goBody(emitter, type, body)]);
  const args = [
    'ctx',
    ...ids.map((id) => JSON.stringify(id)),
    ...(operation.body === 'csv' ? [`strings.NewReader(${JSON.stringify(CSV)})`] : []),
    ...(given ?? []),
    ...(queryType === undefined ? [] : ['nil']),
  ];
  const text = `client.${call.split('.').map(goName).join('.')}(${args.join(', ')})`;
  if (answer === 'page')
    return `pager := ${text}\nfor pager.Next() {\n\tfmt.Println(pager.Item())\n}\nerr := pager.Err()`;
  return answer === 'none' ? `err := ${text}` : `answer, err := ${text}`;
}

type Words = {
  quote: (text: string) => string;
  key: (text: string) => string;
  open: string;
  close: string;
  colon: string;
  none: string;
  indent: string;
};

/** Returns the function that writes a value as a language does. */
function literal({ quote, key, open, close, colon, none, indent }: Words) {
  const isPython = none === 'None';
  return function write(value: unknown, depth: number): string {
    if (typeof value === 'string') return quote(value);
    if (value === null) return none;
    if (typeof value === 'boolean' && isPython) return value ? 'True' : 'False';
    if (typeof value !== 'object') return String(value);
    const items = Array.isArray(value)
      ? value.map((one) => write(one, depth + 1))
      : Object.entries(value).map(([name, one]) => `${key(name)}${colon}${write(one, depth + 1)}`);
    const [left, right] = Array.isArray(value) ? ['[', ']'] : [open, close];
    const pad = left === '{' && !isPython ? ' ' : '';
    const short = `${left}${pad}${items.join(', ')}${pad}${right}`;
    if (short.length < 60 && !short.includes('\n')) return short;
    const inner = indent.repeat(depth + 1);
    return `${left}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent.repeat(depth)}${right}`;
  };
}

function singleQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
}

/** PHP reads `\n` in double quotes alone. */
function phpQuoted(text: string): string {
  if (!text.includes('\n')) return singleQuoted(text);
  return `"${text.replace(/[\\"$]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

function jsKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : singleQuoted(name);
}

/** Returns the whole file as it should be. */
export async function currentSamples(): Promise<string> {
  const document = await readDocument();
  return `${JSON.stringify(samplesOf(document, readTypes(document, readOperations())), null, 2)}\n`;
}

if (import.meta.main) writeFileSync(SAMPLES_FILE, await currentSamples());
