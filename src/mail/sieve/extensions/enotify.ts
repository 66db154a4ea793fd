/**
 ** Notifications by mail: the action `notify`, the tests of its method (RFC 5435, RFC 5436), and its URIs (RFC 6068).
 */
import { MatchValue } from '../comparator.ts';
import {
  type Call,
  type CommandDefinition,
  compileOptions,
  type Extension,
  type Text,
  textsTest,
} from '../definition.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';
import { readScriptAddress, readScriptMailbox } from './addresses.ts';
import { checkCopyTags, copyTarget } from './answers.ts';
import { ENCODE_URL_TAGS } from './variables.ts';

const METHOD = 'the method of `notify` must be a mailto URI with one to four addresses';
const OPTION = /^[a-z0-9][a-z0-9._-]*=[^\0\r\n]*$/i;

const isMethod = (uri: string) => parseMailto(uri) !== undefined;

/** Levels of importance, of which 2 is normal (RFC 5435 section 3.4). */
const LEVELS = { '1': 1, '2': 2, '3': 3 } as const;
const isLevel = (text: string): text is keyof typeof LEVELS => Object.hasOwn(LEVELS, text);

const NOTIFY: CommandDefinition = {
  name: 'notify',
  tags: [
    { name: ':from', value: 'text' },
    { name: ':importance', value: 'text' },
    { name: ':options', value: 'texts' },
    { name: ':message', value: 'text' },
  ],
  parameters: [{ name: 'method', type: 'text' }],
  compile(call) {
    checkCopyTags(call);
    checkOptions(call);
    const optionsOf = compileOptions(call);
    const method = call.checkedText('method', isMethod, METHOD);
    const { from, importance, message } = textsOf(call);
    return (run) => {
      if (isAutomatic(run)) return undefined;
      const { to = [], cc = [], subject, body, fields = [] } = parseMailto(method.read(run)) ?? {};
      const level = importance?.read(run) ?? '2';
      run.take(
        {
          kind: 'notify',
          ...run.origin(),
          to,
          cc,
          from: from && readScriptMailbox(from.read(run)),
          importance: isLevel(level) ? LEVELS[level] : 2,
          subject: message?.read(run) ?? subject,
          body,
          fields,
          copy: copyTarget(optionsOf(run)),
        },
        { leavesKeep: true },
      );
      return undefined;
    };
  },
};

function textsOf(call: Call): Record<'from' | 'importance' | 'message', Text | undefined> {
  const isMailbox = (text: string) => readScriptAddress(text) !== undefined;
  return {
    from: call.has(':from')
      ? call.checkedText(':from', isMailbox, '`:from` needs one email address')
      : undefined,
    importance: call.has(':importance')
      ? call.checkedText(':importance', isLevel, '`:importance` needs "1", "2" or "3"')
      : undefined,
    message: call.has(':message') ? call.text(':message') : undefined,
  };
}

/** Options mean nothing for mail, but must be well-formed (RFC 5435 section 3.5). */
function checkOptions(call: Call): void {
  if (!call.has(':options')) return;
  const { constants = [] } = call.texts(':options');
  if (!constants.every((option) => OPTION.test(option)))
    throw call.fault('each of the `:options` needs the form "name=value"', ':options');
}

/** Automatic mail causes no notification, so that two programs do not notify each other without end (RFC 5436 section 2.7). */
function isAutomatic(run: Run): boolean {
  const [submitted] = run.whole.header.rawValues('auto-submitted');
  return submitted !== undefined && !/^no\b/i.test(submitted);
}

export const ENOTIFY: Extension = {
  name: 'enotify',
  commands: [NOTIFY],
  tests: [
    textsTest('valid_notify_method', 'methods', (_run, methods) => methods.every(isMethod)),
    {
      name: 'notify_method_capability',
      tags: MATCH_TAGS,
      parameters: [{ name: 'method', type: 'text' }, { name: 'capability', type: 'text' }, KEYS],
      compile(call) {
        const method = call.text('method');
        const capability = call.text('capability');
        const matches = compileMatcher(call);
        return (run) => {
          const isKnown = isMethod(method.read(run)) && capability.read(run).toLowerCase() === 'online';
          // A server cannot say whether a person reads mail now (RFC 5436 section 2.2).
          return isKnown && matches(run, [new MatchValue('maybe')]);
        };
      },
    },
  ],
  tags: [{ on: ['set', 'extracttext'], tags: ENCODE_URL_TAGS }],
};

type Mailto = {
  to: readonly string[];
  cc: readonly string[];
  subject: string | undefined;
  body: string | undefined;
  fields: readonly { name: string; value: string }[];
};

/** Maximum length of a URI, and number of its recipients. They keep a message from being multiplied. */
const MAX_URI_CHARACTERS = 8_192;
const MAX_RECIPIENTS = 4;
/** Maximum number of header fields in a URI, and length of each. */
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
function parseMailto(uri: string): Mailto | undefined {
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
