/** The actions `keep`, `discard` and `redirect` (RFC 5228 section 4). */
import { compileOptions } from '../../compile/action-options.ts';
import type { CommandDefinition } from '../../compile/definition.ts';
import { readScriptAddress } from '../script-address.ts';

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
    // The one list that there is (extlists.ts) can be asked about an address, but not enumerated (RFC 6134 section 2.3).
    if (call.has(':list'))
      return (run) => run.fail('the server cannot send a message to all of an address book');
    const isAddress = (value: string) => readScriptAddress(value) !== undefined;
    const to = call.checkedText('address', isAddress, 'the address of `redirect` must be one email address');
    return (run) => {
      const options = optionsOf(run);
      const address = readScriptAddress(to.read(run)) ?? '';
      run.take({ kind: 'redirect', ...run.origin(), address }, options);
      return undefined;
    };
  },
};

export const ACTIONS: readonly CommandDefinition[] = [KEEP, DISCARD, REDIRECT];
