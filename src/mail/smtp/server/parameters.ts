/** Parses the parameters that follow the paths of MAIL and RCPT (RFC 5321 section 4.1.2). */
import { parseTimestamp } from '../../../system/clock.ts';
import { readMessageParameter, readRecipientParameter } from '../dsn-parameters.ts';
import type { Recipient, Reply, Sender } from './session.ts';

type MailParameters = Omit<Sender, 'address' | 'releaseAt'>;
/** The extensions that the server offers on this connection. */
type Offered = {
  requireTls: boolean;
  /** True where clients hand over mail of their own: AUTH and FUTURERELEASE. */
  isSubmission: boolean;
  /** True where clients say what they want to be told about their mail: DSN. */
  notifications: boolean;
};

/** Maximum number of digits in a declared size (RFC 1870 section 3). */
const MAX_SIZE_DIGITS = 20;

/** Maximum number of digits in the seconds for which a message is held (RFC 4865 section 5.1). */
const MAX_HOLD_DIGITS = 9;

const MALFORMED: Reply = { code: 501, status: '5.5.4', text: 'The parameters of MAIL are malformed' };
const MALFORMED_OF_RECIPIENT: Reply = { ...MALFORMED, text: 'The parameters of RCPT are malformed' };

/**
 * Returns the parameters of MAIL, or the refusal of the first that is not understood.
 * @param rest the text after the path, which begins with a space when there are any
 */
export function parseMailParameters(
  rest: string,
  offered: Offered,
): { parameters: MailParameters } | { refusal: Reply } {
  const parameters: MailParameters = { sizeBytes: undefined, body: '7BIT', utf8: false, requireTls: false };
  const words = splitParameters(rest);
  if (!words) return { refusal: MALFORMED };
  for (const word of words) {
    const refusal = readParameter(parameters, { ...word, offered });
    if (refusal) return { refusal };
  }
  return { parameters };
}

/** Returns the parameters of RCPT, or the refusal of the first that is not understood. */
export function parseRecipientParameters(
  rest: string,
  { notifications }: Pick<Offered, 'notifications'>,
): { parameters: Omit<Recipient, 'address'> } | { refusal: Reply } {
  if (!notifications) return rest === '' ? { parameters: {} } : { refusal: unknownParameters('RCPT') };
  const words = splitParameters(rest);
  if (!words) return { refusal: MALFORMED_OF_RECIPIENT };
  const parameters: string[] = [];
  for (const { keyword, value } of words) {
    if (keyword !== 'NOTIFY' && keyword !== 'ORCPT') return { refusal: unknownParameters('RCPT') };
    const read = readRecipientParameter(keyword, value);
    if (read === undefined) return { refusal: MALFORMED_OF_RECIPIENT };
    parameters.push(read);
  }
  return { parameters: parameters.length === 0 ? {} : { dsn: parameters.join(' ') } };
}

type Parameter = { keyword: string; value: string | undefined };

/** Returns the parameters by keyword, in upper case; undefined when they are malformed or one is given twice. */
function splitParameters(rest: string): Parameter[] | undefined {
  if (rest === '') return [];
  if (!rest.startsWith(' ')) return undefined;
  const words = rest
    .trim()
    .split(/ +/)
    .map((word): Parameter => {
      const equals = word.indexOf('=');
      const keyword = (equals < 0 ? word : word.slice(0, equals)).toUpperCase();
      return { keyword, value: equals < 0 ? undefined : word.slice(equals + 1) };
    });
  return new Set(words.map(({ keyword }) => keyword)).size === words.length ? words : undefined;
}

function readParameter(
  parameters: MailParameters,
  { keyword, value, offered }: Parameter & { offered: Offered },
): Reply | undefined {
  if (offered.isSubmission && SUBMISSION_KEYWORDS.has(keyword))
    return readSubmissionParameter(parameters, { keyword, value });
  switch (keyword) {
    case 'RET':
    case 'ENVID': {
      if (!offered.notifications) return unknownParameters('MAIL');
      const read = readMessageParameter(keyword, value);
      if (read === undefined) return MALFORMED;
      parameters.dsn = parameters.dsn === undefined ? read : `${parameters.dsn} ${read}`;
      return undefined;
    }
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

const SUBMISSION_KEYWORDS: ReadonlySet<string> = new Set(['AUTH', 'HOLDFOR', 'HOLDUNTIL']);

function readSubmissionParameter(
  parameters: MailParameters,
  { keyword, value = '' }: Parameter,
): Reply | undefined {
  switch (keyword) {
    case 'HOLDFOR':
      // A message is held either for a time or until one (RFC 4865 section 4).
      if (parameters.hold || value.length > MAX_HOLD_DIGITS || !/^[1-9][0-9]*$/.test(value)) return MALFORMED;
      parameters.hold = { seconds: Number(value) };
      return undefined;
    case 'HOLDUNTIL': {
      const until = parseTimestamp(value);
      if (parameters.hold || until === undefined) return MALFORMED;
      parameters.hold = { until };
      return undefined;
    }
    default:
      // The first submitter of the message does not matter, since the client itself has logged in (RFC 4954 section 5).
      return value === '' ? MALFORMED : undefined;
  }
}

/** Returns the refusal of a parameter that is not offered (RFC 5321 section 4.1.1.11). */
function unknownParameters(command: string): Reply {
  return { code: 555, status: '5.5.4', text: `${command} has a parameter that this server does not offer` };
}
