/** Notifications by mail: the action `notify`, and the tests of its method (RFC 5435, RFC 5436). */
import { compileOptions } from '../compile/action-options.ts';
import type { Call, CommandDefinition, Extension } from '../compile/definition.ts';
import type { Text } from '../compile/text.ts';
import { MatchValue } from '../match/comparator.ts';
import { compileMatcher, KEYS, MATCH_TAGS } from '../match/match-types.ts';
import type { Run } from '../run/run.ts';
import { checkCopyTags, copyTarget } from './fcc.ts';
import { parseMailto } from './mailto.ts';
import { readScriptAddress, readScriptMailbox } from './script-address.ts';
import { ENCODE_URL_TAGS } from './set-modifiers.ts';

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
    {
      name: 'valid_notify_method',
      parameters: [{ name: 'methods', type: 'texts' }],
      compile(call) {
        const methods = call.texts('methods');
        return (run) => methods.read(run).every(isMethod);
      },
    },
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
