/** The actions `reject` and `ereject` (RFC 5429). */
import type { CommandDefinition, Extension } from '../compile/definition.ts';

function rejectCommand(name: string, { prefersProtocol }: { prefersProtocol: boolean }): CommandDefinition {
  return {
    name,
    parameters: [{ name: 'reason', type: 'text' }],
    compile(call) {
      const reason = call.text('reason');
      return (run) => {
        run.take({ kind: 'reject', ...run.origin(), reason: reason.read(run), prefersProtocol });
        return undefined;
      };
    },
  };
}

export const REJECT: Extension = {
  name: 'reject',
  commands: [rejectCommand('reject', { prefersProtocol: false })],
};

export const EREJECT: Extension = {
  name: 'ereject',
  commands: [rejectCommand('ereject', { prefersProtocol: true })],
};
