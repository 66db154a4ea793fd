/** The test `ihave` and the command `error` (RFC 5463). `compile/compiler.ts` puts errors off that the script may avoid. */
import type { Extension } from '../definition.ts';

export const IHAVE: Extension = {
  name: 'ihave',
  commands: [
    {
      name: 'error',
      parameters: [{ name: 'message', type: 'text' }],
      compile(call) {
        const message = call.text('message');
        return (run) => run.fail(message.read(run));
      },
    },
  ],
  tests: [
    {
      name: 'ihave',
      parameters: [{ name: 'capabilities', type: 'constants' }],
      compile(call) {
        const capabilities = call.constants('capabilities');
        const hasAll = capabilities.every((capability) => call.isKnown(capability));
        // Later commands may use them, as if they were required (RFC 5463 section 4).
        if (hasAll) for (const capability of capabilities) call.enableByTest(capability);
        return () => hasAll;
      },
    },
  ],
};
