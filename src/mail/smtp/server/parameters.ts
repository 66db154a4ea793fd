/** Parses the parameters that follow the path of MAIL (RFC 5321 section 4.1.2). */
import type { Reply, Sender } from './session.ts';

type MailParameters = Pick<Sender, 'sizeBytes' | 'body' | 'utf8' | 'requireTls'>;

/** Maximum number of digits in a declared size (RFC 1870 section 3). */
const MAX_SIZE_DIGITS = 20;

const MALFORMED: Reply = { code: 501, status: '5.5.4', text: 'The parameters of MAIL are malformed' };

/**
 * Returns the parameters of MAIL, or the refusal of the first that is not understood.
 * @param rest the text after the path, which begins with a space when there are any
 */
export function parseMailParameters(
  rest: string,
  offered: { requireTls: boolean },
): { parameters: MailParameters } | { refusal: Reply } {
  const parameters: MailParameters = { sizeBytes: undefined, body: '7BIT', utf8: false, requireTls: false };
  if (rest === '') return { parameters };
  if (!rest.startsWith(' ')) return { refusal: MALFORMED };
  const seen = new Set<string>();
  for (const word of rest.trim().split(/ +/)) {
    const equals = word.indexOf('=');
    const keyword = (equals < 0 ? word : word.slice(0, equals)).toUpperCase();
    const value = equals < 0 ? undefined : word.slice(equals + 1);
    if (seen.has(keyword)) return { refusal: MALFORMED };
    seen.add(keyword);
    const refusal = readParameter(parameters, { keyword, value, offered });
    if (refusal) return { refusal };
  }
  return { parameters };
}

function readParameter(
  parameters: MailParameters,
  {
    keyword,
    value,
    offered,
  }: { keyword: string; value: string | undefined; offered: { requireTls: boolean } },
): Reply | undefined {
  switch (keyword) {
    case 'SIZE':
      // The value has up to 20 digits (RFC 1870 section 3).
      if (value === undefined || value.length > MAX_SIZE_DIGITS || !/^[0-9]+$/.test(value)) return MALFORMED;
      parameters.sizeBytes = Number(value);
      return undefined;
    case 'BODY': {
      // BINARYMIME is not offered, which leaves two values (RFC 6152 section 3).
      const body = value?.toUpperCase();
      if (body !== '7BIT' && body !== '8BITMIME') return MALFORMED;
      parameters.body = body;
      return undefined;
    }
    case 'SMTPUTF8':
      // This parameter has no value (RFC 6531 section 3.1).
      parameters.utf8 = true;
      return value === undefined ? undefined : MALFORMED;
    case 'REQUIRETLS':
      // The parameter needs TLS, over which it is offered (RFC 8689 section 2).
      if (!offered.requireTls) return unknownParameters('MAIL');
      parameters.requireTls = true;
      return value === undefined ? undefined : MALFORMED;
    default:
      return unknownParameters('MAIL');
  }
}

/** Returns the refusal of a parameter that is not offered (RFC 5321 section 4.1.1.11). */
export function unknownParameters(command: string): Reply {
  return { code: 555, status: '5.5.4', text: `${command} has a parameter that this server does not offer` };
}
