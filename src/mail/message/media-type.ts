/** Media types as a caller may give them for an attachment: `type/subtype` with parameters, and nothing looser. */

export type MediaType = {
  /** Lower case, as are the names of the parameters. */
  type: string;
  subtype: string;
  parameters: readonly { name: string; value: string }[];
};

/** Ours: well above any registered type with its parameters. */
const MAX_TEXT_CHARACTERS = 256;
/** RFC 6838 4.2 restricted-name: 127 characters at most. */
const RESTRICTED_NAME = '[A-Za-z0-9][A-Za-z0-9!#$&\\-^_.+]{0,126}';
const TYPE = new RegExp(`^(${RESTRICTED_NAME})/(${RESTRICTED_NAME})`);
/** RFC 2045 5.1. In a name RFC 2231 7 leaves `*`, `'` and `%` out. */
const TOKEN = "[A-Za-z0-9!#$%&'*+\\-.^_`{|}~]+";
const PARAMETER = new RegExp(
  ` *; *([A-Za-z0-9!#$&+\\-.^_\`{|}~]+)=(?:(${TOKEN})|"((?:[ !#-[\\]-~]|\\\\[ -~])*)")`,
  'y',
);
const WHOLE_TOKEN = new RegExp(`^${TOKEN}$`);

/** Undefined when `text` is not exactly one media type; a parameter given twice makes it none. */
export function parseMediaType(text: string): MediaType | undefined {
  if (text.length > MAX_TEXT_CHARACTERS) return undefined;
  const match = TYPE.exec(text);
  if (!match) return undefined;
  const [whole, type = '', subtype = ''] = match;
  const parameters = new Map<string, string>();
  let at = whole.length;
  while (at < text.length) {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(text);
    if (!found) return undefined;
    const name = (found[1] ?? '').toLowerCase();
    if (parameters.has(name)) return undefined;
    parameters.set(name, found[2] ?? (found[3] ?? '').replace(/\\(.)/g, '$1'));
    at += found[0].length;
  }
  return {
    type: type.toLowerCase(),
    subtype: subtype.toLowerCase(),
    parameters: [...parameters].map(([name, value]) => ({ name, value })),
  };
}

/** A parameter in its shortest form (RFC 2045 5.1): quoted where a token cannot say it.
 * @throws RangeError when the value is not printable ASCII, which takes RFC 2231 */
export function writeParameter(name: string, value: string): string {
  if (!/^[ -~]*$/.test(value)) throw new RangeError(`parameter ${name} is not printable ASCII`);
  return WHOLE_TOKEN.test(value) ? `${name}=${value}` : `${name}="${value.replace(/["\\]/g, '\\$&')}"`;
}
