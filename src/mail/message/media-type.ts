/** Parses the media type that a caller gives for an attachment: `type/subtype` with parameters, in strict syntax. */

export type MediaType = {
  /** The type in lower case. The subtype and the names of parameters are in lower case too. */
  type: string;
  subtype: string;
  parameters: readonly { name: string; value: string }[];
};

/** Maximum length of a media type. It is well above any registered type with its parameters. */
const MAX_TEXT_CHARACTERS = 256;
/** Syntax of a type or subtype: a restricted-name of at most 127 characters (RFC 6838 section 4.2). */
const RESTRICTED_NAME = '[A-Za-z0-9][A-Za-z0-9!#$&\\-^_.+]{0,126}';
const TYPE = new RegExp(`^(${RESTRICTED_NAME})/(${RESTRICTED_NAME})`);
/**
 * Syntax of a token (RFC 2045 section 5.1). The name of a parameter excludes `*`, `'` and `%` (RFC 2231 section 7).
 */
const TOKEN = "[A-Za-z0-9!#$%&'*+\\-.^_`{|}~]+";
const PARAMETER = new RegExp(
  ` *; *([A-Za-z0-9!#$&+\\-.^_\`{|}~]+)=(?:(${TOKEN})|"((?:[ !#-[\\]-~]|\\\\[ -~])*)")`,
  'y',
);
const WHOLE_TOKEN = new RegExp(`^${TOKEN}$`);

/** Returns the media type; undefined when `text` is not exactly one, or has a parameter twice. */
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

/**
 * Returns a parameter in its shortest form, quoted when a token cannot express the value (RFC 2045 section 5.1).
 * @throws RangeError when the value is not printable ASCII, which would require RFC 2231
 */
export function writeParameter(name: string, value: string): string {
  if (!/^[ -~]*$/.test(value)) throw new RangeError(`parameter ${name} is not printable ASCII`);
  return WHOLE_TOKEN.test(value) ? `${name}=${value}` : `${name}="${value.replace(/["\\]/g, '\\$&')}"`;
}
