/** Encodes the parameters of a header field that are not ASCII (RFC 2231 section 4). */
import { cleanFilename, extendedValue } from '../filename.ts';
import { writeParameter } from '../media-type.ts';
import { type MimeParameter, readParameterField } from '../mime-fields.ts';
import { isAsciiText } from './encode-text.ts';

const PRINTABLE_ASCII = /^[ -~]*$/;
/** Matches the name of a parameter (RFC 2045 section 5.1, RFC 2231 section 7). */
const PARAMETER_NAME = /^[a-z0-9!#$&+\-.^_`{|}~]+$/;
const FILE_NAMES: ReadonlySet<string> = new Set(['filename', 'name']);

/** Names of files are cut to the 255 octets that file systems allow. A value with parameters that cannot be written stays as it is. */
export function encodeParameters(value: string): string {
  const field = readParameterField(value);
  if (!field || !isAsciiText(field.value)) return value;
  const parameters = field.parameters.map(encodeParameter);
  return parameters.includes(undefined) ? value : ` ${[field.value, ...parameters].join('; ')}`;
}

function encodeParameter({ name, value, isExtended }: MimeParameter): string | undefined {
  if (!PARAMETER_NAME.test(name)) return undefined;
  const text = FILE_NAMES.has(name) ? cleanFilename(value) : value;
  if (isExtended || !isAsciiText(text)) return `${name}*=${extendedValue(text)}`;
  return PRINTABLE_ASCII.test(text) ? writeParameter(name, text) : undefined;
}
