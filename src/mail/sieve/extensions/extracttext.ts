/** The action `extracttext` (RFC 5703 section 7). */
import type { Extension } from '../compile/definition.ts';
import { readKnownText } from './part-text.ts';
import { MODIFIER_TAGS, modifiersOf } from './set-modifiers.ts';
import { variableArgument } from './variables.ts';

export const EXTRACTTEXT: Extension = {
  name: 'extracttext',
  commands: [
    {
      name: 'extracttext',
      tags: [...MODIFIER_TAGS, { name: ':first', value: 'number' }],
      parameters: [{ name: 'variable', type: 'constant' }],
      compile(call) {
        if (!call.uses('variables')) throw call.fault('`extracttext` needs `require "variables"`');
        if (call.notes.loops.length === 0) throw call.fault('`extracttext` stands outside of a loop');
        const variable = variableArgument(call, 'variable');
        const modify = modifiersOf(call);
        const maxCharacters = call.has(':first') ? call.number(':first') : Number.POSITIVE_INFINITY;
        return (run) => {
          const { part, message } = run;
          const isText = part?.entity.type === 'text' && part.parts.length === 0;
          const text = isText ? (readKnownText(message.octets, part.entity) ?? '') : '';
          run.spendOnText(text.length);
          variable.write(run, modify([...text.slice(0, 2 * maxCharacters)].slice(0, maxCharacters).join('')));
          return undefined;
        };
      },
    },
  ],
};
