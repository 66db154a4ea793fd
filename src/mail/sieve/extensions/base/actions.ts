/** The actions `keep`, `discard` and `redirect` (RFC 5228 section 4). */
import { parseMailbox } from '../../../address.ts';
import { compileOptions } from '../../compile/action-options.ts';
import type { CommandDefinition } from '../../compile/definition.ts';

const KEEP: CommandDefinition = {
  name: 'keep',
  compile(call) {
    const optionsOf = compileOptions(call);
    return (run) => {
      const flags = optionsOf(run).flags ?? run.flags;
      run.take({ kind: 'keep', ...run.origin(), isImplicit: false, flags });
      return undefined;
    };
  },
};

const DISCARD: CommandDefinition = {
  name: 'discard',
  compile: () => (run) => {
    run.list.isImplicitlyKept = false;
    return undefined;
  },
};

const REDIRECT: CommandDefinition = {
  name: 'redirect',
  parameters: [{ name: 'address', type: 'text' }],
  compile(call) {
    const optionsOf = compileOptions(call);
    const isAddress = (value: string) => parseMailbox(value) !== undefined;
    const to = call.checkedText('address', isAddress, 'the address of `redirect` must be one email address');
    return (run) => {
      const options = optionsOf(run);
      const address = parseMailbox(to.read(run))?.address ?? '';
      run.take({ kind: 'redirect', ...run.origin(), address }, options);
      return undefined;
    };
  },
};

export const ACTIONS: readonly CommandDefinition[] = [KEEP, DISCARD, REDIRECT];
