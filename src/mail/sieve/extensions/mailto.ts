/** The URIs of notifications by mail (RFC 5436 section 2, RFC 6068). */
import { readScriptAddress } from './script-address.ts';

type Mailto = {
  to: readonly string[];
  cc: readonly string[];
  subject: string | undefined;
  body: string | undefined;
  fields: readonly { name: string; value: string }[];
};

/** Maximum length of a URI, and number of its recipients. Our own limits, so that a message is not multiplied. */
const MAX_URI_CHARACTERS = 8_192;
const MAX_RECIPIENTS = 4;
/** Maximum number of header fields in a URI, and length of each. Our own limits. */
const MAX_FIELDS = 10;
const MAX_FIELD_CHARACTERS = 500;

/** Fields that a URI may set. Others, such as From, Reply-To and Auto-Submitted, are left out (RFC 5436 section 2.7). */
const ALLOWED_FIELD = /^(?:comments|importance|keywords|priority|x-[a-z0-9-]{1,60})$/;
const PRINTABLE = /^[ -~]*$/;
/** Matches the name of a header field (RFC 5322 section 2.2). */
const FIELD_NAME = /^[!-9;-~]+$/;
/** Matches the value of a header field, which has no line breaks (RFC 6068 section 5). */
const FIELD_VALUE = /^[^\0\r\n]*$/;

type Field = { name: string; value: string };

/** Returns the parts of a URI; undefined when it is not a valid one of this kind. */
export function parseMailto(uri: string): Mailto | undefined {
  const match = /^mailto:([^?#]*)(?:\?([^#]*))?$/i.exec(uri);
  if (!match || uri.length > MAX_URI_CHARACTERS) return undefined;
  const [, path = '', query = ''] = match;
  const fields = query === '' ? [] : readFields(query);
  if (!fields) return undefined;
  const valuesOf = (name: string) => fields.filter((field) => field.name === name).map(({ value }) => value);
  const inPath = path === '' ? [] : path.split(',').map(decode);
  const to = readAddresses([...inPath, ...valuesOf('to')]);
  const cc = readAddresses(valuesOf('cc'));
  if (!to || !cc || to.length === 0 || to.length + cc.length > MAX_RECIPIENTS) return undefined;
  const [subject] = valuesOf('subject');
  const [body] = valuesOf('body');
  return { to, cc, subject, body, fields: fields.filter(isAllowed) };
}

function readFields(query: string): Field[] | undefined {
  const fields = query.split('&').map(readField);
  return fields.length <= MAX_FIELDS && fields.every((field) => field !== undefined) ? fields : undefined;
}

function readField(text: string): Field | undefined {
  const equals = text.indexOf('=');
  const name = decode(text.slice(0, Math.max(equals, 0)))?.toLowerCase();
  const value = decode(text.slice(equals + 1));
  if (name === undefined || value === undefined || !FIELD_NAME.test(name)) return undefined;
  return name === 'body' || FIELD_VALUE.test(value) ? { name, value } : undefined;
}

/**
 * Returns the addresses of some lists; undefined when one is not valid. The commas of a list may themselves be percent-encoded, as many
 * programs write them, and a comma in a quoted local part separates nothing.
 */
function readAddresses(lists: readonly (string | undefined)[]): readonly string[] | undefined {
  const addresses = lists.flatMap((list) => (list === undefined ? [undefined] : readList(list)));
  return addresses.every((address) => address !== undefined) ? addresses : undefined;
}

function readList(list: string): (string | undefined)[] {
  const whole = readScriptAddress(list);
  return whole === undefined && list.includes(',') ? list.split(',').map(readScriptAddress) : [whole];
}

function isAllowed({ name, value }: Field): boolean {
  return ALLOWED_FIELD.test(name) && PRINTABLE.test(value) && value.length <= MAX_FIELD_CHARACTERS;
}

/** Returns the text that percent-encoding stands for; undefined when it is malformed or not UTF-8. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
