/**
 * Stands in for curl where the tests have to get by without one: a program with those of its options that the
 * documents use, and no others.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    request: { type: 'string', short: 'X' },
    header: { type: 'string', short: 'H', multiple: true },
    data: { type: 'string', short: 'd' },
    'data-binary': { type: 'string' },
    silent: { type: 'boolean', short: 's' },
    'show-error': { type: 'boolean', short: 'S' },
  },
});
const [url, ...others] = positionals;
if (url === undefined || others.length > 0) throw new Error(`one URL, not ${positionals.join(' ')}`);

/** `-d` strips line breaks from what it reads from a file, `--data-binary` does not. */
const body =
  values['data-binary'] !== undefined
    ? readFileSync(values['data-binary'].replace(/^@/, ''))
    : values.data === '@-'
      ? (await text(process.stdin)).replace(/[\r\n]/g, '')
      : values.data;
const headers = Object.fromEntries(
  (values.header ?? []).map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  }),
);
const sent = request(url, { method: values.request ?? (body === undefined ? 'GET' : 'POST'), headers });
sent.on('response', (response) => response.pipe(process.stdout));
sent.end(body);
